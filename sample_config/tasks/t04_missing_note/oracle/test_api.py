"""Hidden test: status and body of every route. Requests go to the handler over a socket pair, so no port is needed."""

import json
import os
import socket
import sys
import unittest
from http.client import HTTPResponse
from types import SimpleNamespace

sys.path.insert(0, os.environ["REPO_DIR"])

from notebook.api import Api
from notebook.store import Store


class Routes(unittest.TestCase):
    def setUp(self):
        self.server = SimpleNamespace(store=Store())
        self.server.store.add("milk")

    def ask(self, method, path, body=b""):
        client, service = socket.socketpair()
        with client, service:
            client.settimeout(10)
            client.sendall(b"%s %s HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s" % (method, path, len(body), body))
            client.shutdown(socket.SHUT_WR)
            Api(service, ("client", 0), self.server)
            service.close()
            response = HTTPResponse(client, method=method.decode())
            response.begin()
            text = response.read()
        return response.status, json.loads(text) if text else None

    def test_note_that_exists(self):
        self.assertEqual(self.ask(b"GET", b"/notes/1"), (200, {"id": 1, "text": "milk"}))

    def test_note_that_does_not_exist(self):
        self.assertEqual(self.ask(b"GET", b"/notes/99"), (404, {"error": "no such note"}))

    def test_paths_that_are_not_notes(self):
        for path in (b"/", b"/notes/", b"/notes/one", b"/note/1"):
            with self.subTest(path=path):
                status, body = self.ask(b"GET", path)
                self.assertEqual((status, list(body)), (404, ["error"]))

    def test_list(self):
        self.assertEqual(self.ask(b"GET", b"/notes"), (200, [1]))

    def test_delete(self):
        self.assertEqual(self.ask(b"DELETE", b"/notes/1"), (204, None))
        self.assertEqual(self.ask(b"DELETE", b"/notes/1"), (404, {"error": "no such note"}))
        self.assertEqual(self.ask(b"GET", b"/notes/1")[0], 404)

    def test_post(self):
        self.assertEqual(self.ask(b"POST", b"/notes", b'{"text": "eggs"}'), (201, {"id": 2, "text": "eggs"}))
        for body in (b"", b"[]", b'{"text": 3}', b"{"):
            with self.subTest(body=body):
                self.assertEqual(self.ask(b"POST", b"/notes", body)[0], 400)
        self.assertEqual(self.ask(b"POST", b"/elsewhere", b"{}")[0], 404)


if __name__ == "__main__":
    unittest.main()
