"""Requests and answers."""

import json
import re
from http.server import BaseHTTPRequestHandler


class Api(BaseHTTPRequestHandler):
    """One request. `server.store` holds the notes."""

    def do_GET(self):
        if self.path == "/notes":
            self.answer(200, self.server.store.numbers())
            return
        note = self.server.store.find(self.number())
        if note is None:
            self.answer(200, {"error": "no such note"})
        else:
            self.answer(200, note)

    def do_POST(self):
        if self.path != "/notes":
            self.answer(404, {"error": "no such place"})
            return
        text = self.text()
        if text is None:
            self.answer(400, {"error": "expected an object with a text"})
        else:
            self.answer(201, self.server.store.add(text))

    def do_DELETE(self):
        if self.server.store.remove(self.number()):
            self.answer(204)
        else:
            self.answer(200, {"error": "no such note"})

    def number(self):
        """Number of the note in the path, or None."""
        match = re.fullmatch(r"/notes/(\d{1,9})", self.path)
        return int(match[1]) if match else None

    def text(self):
        """Text in the body of the request, or None."""
        try:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        except ValueError:
            return None
        text = body.get("text") if isinstance(body, dict) else None
        return text if isinstance(text, str) else None

    def answer(self, status, value=None):
        """Sends a status and, where there is a value, its JSON."""
        body = b"" if value is None else json.dumps(value).encode() + b"\n"
        self.send_response(status)
        if body:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, form, *values):
        """The service keeps no access log."""
