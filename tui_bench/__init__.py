"""tui_bench: compare coding agents with numbers that hold."""

__version__ = "0.1.0"
