"""The server behind the UPF: hands out files of a folder (GET) and takes files into it (PUT).

Usage: python3 http_server.py FOLDER PORT ADDRESS [ADDRESS...]
"""

from __future__ import annotations

import shutil
import socket
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BLOCK = 1 << 16


class Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_PUT(self):
        left = int(self.headers.get("Content-Length", "0"))
        target = Path(self.directory) / Path(self.path).name
        with target.open("wb") as out:
            while left > 0:
                block = self.rfile.read(min(left, BLOCK))
                if not block:
                    break
                out.write(block)
                left -= len(block)
        self.send_response(201 if left == 0 else 400)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def copyfile(self, source, outputfile):
        shutil.copyfileobj(source, outputfile, BLOCK)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler):
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, handler)


def main(folder: str, port: str, *addresses: str):
    servers = [Server((address, int(port)), partial(Handler, directory=folder)) for address in addresses]
    for server in servers[1:]:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    servers[0].serve_forever()


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
