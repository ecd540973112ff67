"""Hidden test: one budget of repeats for the batch, counted at the gateway. No test really waits."""

import os
import sys
import unittest

sys.path.insert(0, os.environ["REPO_DIR"])

from courier.batch import TryLater, send_all


class Gateway:
    """Counts knocks; each parcel fails as often as told."""

    def __init__(self, failures):
        self.failures = dict(failures)
        self.knocks = []

    def __call__(self, parcel):
        self.knocks.append(parcel)
        if self.failures.get(parcel, 0) > 0:
            self.failures[parcel] -= 1
            raise TryLater(parcel)


class Budget(unittest.TestCase):
    def send(self, failures, retries, parcels="abc"):
        gateway, pauses = Gateway(failures), []
        report = send_all(list(parcels), gateway, retries, wait=pauses.append)
        self.assertEqual(report.tries, len(gateway.knocks))
        return report, "".join(gateway.knocks), pauses

    def test_nothing_gets_through(self):
        report, knocks, pauses = self.send({"a": 99, "b": 99, "c": 99}, 2)
        self.assertEqual((knocks, report.failed, report.delivered), ("aaabc", ["a", "b", "c"], []))
        self.assertEqual(pauses, [1, 2])

    def test_budget_is_shared(self):
        report, knocks, pauses = self.send({"a": 1, "b": 1, "c": 1}, 2)
        self.assertEqual((knocks, report.delivered, report.failed), ("aabbc", ["a", "b"], ["c"]))
        self.assertEqual(pauses, [1, 1])

    def test_what_is_left_goes_to_later_parcels(self):
        report, knocks, _ = self.send({"c": 3}, 3)
        self.assertEqual((knocks, report.failed), ("abcccc", []))

    def test_no_repeats_at_all(self):
        report, knocks, pauses = self.send({"b": 1}, 0)
        self.assertEqual((knocks, report.failed, pauses), ("abc", ["b"], []))

    def test_every_batch_has_its_own_budget(self):
        for _ in range(2):
            self.assertEqual(self.send({"a": 2}, 2)[1], "aaabc")

    def test_large_batch(self):
        parcels = [chr(0x4E00 + n) for n in range(200)]
        report, knocks, _ = self.send(dict.fromkeys(parcels, 99), 5, parcels)
        self.assertEqual((len(knocks), len(report.failed)), (205, 200))


if __name__ == "__main__":
    unittest.main()
