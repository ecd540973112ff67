"""Cutting a list into pages."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """One page: its number (from 1), the number of pages, and what stands on it."""

    number: int
    of: int
    items: tuple


def page_count(total, size):
    """Number of pages that `total` items fill at `size` items a page."""
    if size < 1:
        raise ValueError("a page holds at least one item")
    return total // size + 1


def page(items, number, size):
    """Page `number` of `items`. Raises IndexError for a page that does not exist."""
    last = page_count(len(items), size)
    if not 1 <= number <= last:
        raise IndexError(f"there is no page {number}, the last one is {last}")
    start = (number - 1) * size
    return Page(number, last, tuple(items[start:start + size]))
