"""Statistics of the standard library alone: exact where the data are small, each checked against scipy in the tests."""
