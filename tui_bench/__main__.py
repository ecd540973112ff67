"""`python -m tui_bench`."""

from tui_bench.cli import main

main()
