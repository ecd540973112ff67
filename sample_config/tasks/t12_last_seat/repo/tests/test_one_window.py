"""One window alone."""

import queue
import unittest

from seats.hall import Full, Hall, Taken
from seats.window import serve


class OneWindow(unittest.TestCase):
    def test_by_name_and_first(self):
        hall = Hall(["A1", "A2", "B1"])
        hall.reserve("A1", "ann")
        self.assertEqual(hall.reserve_first("bob", lambda seat: True), "A2")
        with self.assertRaises(Taken):
            hall.reserve("A2", "cid")
        self.assertEqual(hall.free(), ["B1"])

    def test_full(self):
        with self.assertRaises(Full):
            Hall(["A1"]).reserve_first("ann", lambda seat: False)

    def test_requests(self):
        requests, sold = queue.Queue(), queue.Queue()
        for request in (("ann", "front"), ("bob", "front"), ("cid", "A1")):
            requests.put(request)
        serve(Hall(["A1", "B1"]), requests, sold)
        self.assertEqual([sold.get() for _ in range(3)], [("ann", "A1"), ("bob", None), ("cid", None)])


if __name__ == "__main__":
    unittest.main()
