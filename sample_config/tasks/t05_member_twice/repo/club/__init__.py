"""Members of a club in one SQLite file."""
