"""How an agent is started and how its usage is read."""
