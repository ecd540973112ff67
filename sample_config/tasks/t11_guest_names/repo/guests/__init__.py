"""One guest list from several."""
