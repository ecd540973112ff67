"""Settings and limits of a mail relay."""
