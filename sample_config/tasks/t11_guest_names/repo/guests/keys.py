"""Which names are the same."""


def name_key(name):
    """Text that is equal for two spellings of one name."""
    words = name.split()
    return " ".join(words).lower()
