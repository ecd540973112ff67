"""Command line: python3 -m seats ROWS SEATS WINDOWS < REQUESTS."""

import queue
import sys
import threading

from seats.hall import Hall
from seats.window import serve


def main(rows, seats, windows, lines):
    hall = Hall(f"{chr(ord('A') + row)}{seat + 1}" for row in range(rows) for seat in range(seats))
    requests, sold = queue.Queue(), queue.Queue()
    for line in lines:
        requests.put(tuple(line.split()))
    threads = [threading.Thread(target=serve, args=(hall, requests, sold)) for _ in range(windows)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while not sold.empty():
        guest, seat = sold.get()
        print(guest, seat or "-")


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:4]), sys.stdin)
