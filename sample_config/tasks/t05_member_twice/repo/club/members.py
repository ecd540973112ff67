"""Joining and listing."""

import sqlite3


class AlreadyMember(ValueError):
    """The email belongs to a member."""


def join(club, email, name, day):
    """Adds a member and returns the number. Raises AlreadyMember."""
    row = (email.strip().lower(), name, day)
    try:
        with club:
            return club.execute("INSERT INTO member (email, name, joined) VALUES (?, ?, ?)", row).lastrowid
    except sqlite3.IntegrityError as error:
        raise AlreadyMember(f"{row[0]} is a member already") from error


def members(club, day=None):
    """(email, name) of all members, or of those who joined on a day, sorted by email."""
    if day is None:
        return club.execute("SELECT email, name FROM member ORDER BY email").fetchall()
    return club.execute("SELECT email, name FROM member WHERE joined = ? ORDER BY email", (day,)).fetchall()
