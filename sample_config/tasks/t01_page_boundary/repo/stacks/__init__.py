"""A shelf of books, printed page by page."""
