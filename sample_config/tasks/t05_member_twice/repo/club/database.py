"""Opening the file."""

import sqlite3
from pathlib import Path

SCHEMA = Path(__file__).with_name("schema.sql")


def open_club(path):
    """Connection to a club's file, with the schema in place. Waits up to 5 s for other writers."""
    connection = sqlite3.connect(path, timeout=5)
    connection.executescript(SCHEMA.read_text(encoding="utf-8"))
    return connection
