"""Adds up a receipt."""
