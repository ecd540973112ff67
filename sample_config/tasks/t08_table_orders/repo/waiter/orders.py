"""The order of one table."""


class Order:
    """Dishes in the order they were asked for, and notes for the kitchen by dish."""

    def __init__(self, table, dishes=[], notes={}):
        self.table = table
        self.dishes = dishes
        self.notes = notes

    def add(self, dish):
        """One more dish."""
        self.dishes.append(dish)

    def note(self, dish, text):
        """A wish for the kitchen. Raises KeyError for a dish that was not ordered."""
        if dish not in self.dishes:
            raise KeyError(dish)
        self.notes[dish] = text
