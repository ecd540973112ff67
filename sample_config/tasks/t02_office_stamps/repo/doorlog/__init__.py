"""Door events of several offices in one table."""
