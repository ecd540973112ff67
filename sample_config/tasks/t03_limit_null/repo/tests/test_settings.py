"""Defaults, overridden values, unknown names."""

import unittest

from relay.limits import fits, may_send
from relay.settings import SettingsError, load, merge, refuse_unknown


class Settings(unittest.TestCase):
    def test_defaults_alone(self):
        self.assertEqual(load()["queue"]["per_minute"], 60)

    def test_a_value_wins(self):
        self.assertEqual(merge({"a": 1, "b": 2}, {"b": 3}), {"a": 1, "b": 3})

    def test_unknown_key(self):
        with self.assertRaises(SettingsError):
            refuse_unknown({"queue": {"a": 1}}, {"queue": {"z": 1}})

    def test_limits(self):
        self.assertTrue(may_send(load(), 59))
        self.assertFalse(may_send(load(), 60))
        self.assertFalse(fits(load(), 2_000_000))


if __name__ == "__main__":
    unittest.main()
