"""Sells the seats of a hall from several windows."""
