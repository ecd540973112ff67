"""Widgets of the application, one a file."""
