"""Command line: python3 -m notebook [PORT]."""

import sys
from http.server import ThreadingHTTPServer

from notebook.api import Api
from notebook.store import Store


def main(arguments):
    port = int(arguments[0]) if arguments else 8400
    server = ThreadingHTTPServer(("127.0.0.1", port), Api)
    server.store = Store()
    print(f"http://127.0.0.1:{server.server_port}/notes")
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
