"""Runs the plan: workspaces, agents, oracles, and the ledger's one writer."""
