"""The protected server: HTTP/1.1 on one port, and a protocol in which the server speaks first on another.

GET /N: N octets, the same ones each time (content() below). PUT: answers with the SHA-256 of what came.
On the other port: one line as soon as the connection is there, then every line comes back.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import random
import socket
from functools import cache

LONGEST = 64 << 20
BANNER = b"220 ready\r\n"


@cache
def content(size: int) -> bytes:
    """What GET /size has; the tests have it from here, too."""
    return random.Random(size).randbytes(size)


async def http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, asyncio.IncompleteReadError, ValueError, asyncio.LimitOverrunError):
        while head := await reader.readuntil(b"\r\n\r\n"):
            method, path, *_ = head.split(b" ", 2)
            fields = {
                name.strip().lower(): value.strip()
                for name, _, value in (line.partition(b":") for line in head.split(b"\r\n")[1:])
            }
            if method == b"PUT":
                digest, left = hashlib.sha256(), int(fields.get(b"content-length", b"0"))
                while left > 0:
                    block = await reader.read(min(left, 1 << 18))
                    if not block:
                        return
                    digest.update(block)
                    left -= len(block)
                body = digest.hexdigest().encode()
            else:
                body = content(min(LONGEST, int(path.strip(b"/") or b"64")))
            closes = fields.get(b"connection") == b"close"
            end = b"Connection: close\r\n\r\n" if closes else b"\r\n"
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%b" % (len(body), end))
            writer.write(body)
            await writer.drain()
            if closes:
                break
    with contextlib.suppress(OSError):
        writer.close()


async def banner(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        writer.write(BANNER)
        while line := await reader.readline():
            writer.write(line)
            await writer.drain()
        writer.close()


async def serve(arguments: argparse.Namespace) -> None:
    servers = []
    for address in arguments.addresses:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        for port, handler in ((arguments.web, http), (arguments.banner, banner)):
            servers.append(await asyncio.start_server(handler, address, port, family=family, backlog=arguments.backlog))
    await asyncio.gather(*(server.serve_forever() for server in servers))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("addresses", nargs="+")
    parser.add_argument("--web", type=int, required=True)
    parser.add_argument("--banner", type=int, required=True)
    parser.add_argument("--backlog", type=int, default=256)
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
