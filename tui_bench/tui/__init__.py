"""The terminal application. It tails a ledger and sends requests; it never owns a run."""
