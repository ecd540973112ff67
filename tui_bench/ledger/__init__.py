"""The append-only JSONL ledger: row types, one writer, readers, integrity."""
