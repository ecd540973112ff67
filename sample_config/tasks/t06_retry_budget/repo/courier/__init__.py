"""Hands a batch of parcels to an unreliable gateway."""
