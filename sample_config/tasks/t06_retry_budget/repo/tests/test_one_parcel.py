"""One parcel and its pauses."""

import unittest

from courier.batch import TryLater, send_all
from courier.pauses import pause_before


class OneParcel(unittest.TestCase):
    def test_third_try_gets_through(self):
        answers = [TryLater(), TryLater(), None]
        waited = []

        def send(parcel):
            answer = answers.pop(0)
            if answer:
                raise answer

        report = send_all(["letter"], send, retries=5, wait=waited.append)
        self.assertEqual((report.delivered, report.tries, waited), (["letter"], 3, [1, 2]))

    def test_pauses_stop_growing(self):
        self.assertEqual([pause_before(n) for n in range(1, 7)], [1, 2, 4, 8, 8, 8])


if __name__ == "__main__":
    unittest.main()
