"""Orders, slips and bills of an evening."""
