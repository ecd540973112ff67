"""Reading shelf files."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Book:
    title: str
    author: str
    year: int

    def line(self):
        """The book as the listing shows it."""
        return f"{self.title} ({self.author}, {self.year})"


def read_shelf(lines):
    """Books of a shelf file, in the file's order."""
    books = []
    for text in lines:
        text = text.strip()
        if not text or text.startswith("#"):
            continue
        title, author, year = (part.strip() for part in text.split(";"))
        books.append(Book(title, author, int(year)))
    return books
