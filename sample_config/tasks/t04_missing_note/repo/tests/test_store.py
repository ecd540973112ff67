"""The store behind the service."""

import unittest

from notebook.store import Store


class Notes(unittest.TestCase):
    def test_add_find_remove(self):
        store = Store()
        note = store.add("milk")
        self.assertEqual(store.find(note["id"]), {"id": 1, "text": "milk"})
        self.assertTrue(store.remove(1))
        self.assertFalse(store.remove(1))
        self.assertIsNone(store.find(1))


if __name__ == "__main__":
    unittest.main()
