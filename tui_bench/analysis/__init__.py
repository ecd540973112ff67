"""Pure: the fold over rows, verdicts, statistics, tables and their wording. No clock, no I/O."""
