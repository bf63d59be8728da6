"""A card that is only a control socket: it keeps what it is told, and can refuse, as no real card can be made to."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from pathlib import Path


class CardDouble:
    """Answers on `path` as `splitplane card` with program gnb does (docs/design/nic.md), until close()."""

    def __init__(self, path: str, vfs: list[str], features: str = "clone"):
        self.show = {"boot": "double", "program": f"gnb-{features}", "features": features, "lookup": "teid"}
        self.show |= {"vfs": vfs, "punt_n3": 0, "punt_air": 1, "punts": {}}
        self.bearers: dict[int, dict] = {}
        self.connections: list[socket.socket] = []
        self.refused_qfi: int | None = None
        self.install_takes = 0.0  # seconds, of each request
        self.installed: list[tuple[int, int]] = []  # bearer and QFI, as they came
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).unlink(missing_ok=True)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.socket.close()
        self.hang_up()

    def hang_up(self):
        """Ends all connections, as a card that is started again."""
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.connections.clear()

    def _accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket):
        with connection, connection.makefile() as lines:
            for line in lines:
                request = json.loads(line)
                try:
                    reply = {"result": self._answer(request["method"], request.get("params") or {})}
                except (KeyError, ValueError) as refused:  # KeyError: a bearer that is not on the card
                    reply = {"error": str(refused)}
                connection.sendall(json.dumps({"id": request["id"], **reply}).encode() + b"\n")

    def _answer(self, method: str, params: dict) -> object:
        if method == "card.show":
            return self.show
        if method == "card.install":
            bearers = [params["common"] | bearer for bearer in params["bearers"]]
            if any(bearer["qfi"] == self.refused_qfi for bearer in bearers):
                raise ValueError(f"qfi {self.refused_qfi} is refused; allowed: another")
            time.sleep(self.install_takes)
            self.bearers |= {bearer["id"]: bearer for bearer in bearers}
            self.installed += [(bearer["id"], bearer["qfi"]) for bearer in bearers]
        elif method == "card.remove":
            for number in params["ids"]:
                del self.bearers[number]
        elif method == "card.numbers":
            ids = params.get("ids") or sorted(key for key in self.bearers if key > params["after"])
            return [self._numbers(self.bearers[key]) for key in ids]
        return {}

    @staticmethod
    def _numbers(bearer: dict) -> list[int]:
        next_count, lease = bearer["next_count"], bearer["lease"]
        numbers = [bearer["id"], next_count, 0, 0, 0, 0, bearer["epoch"], bearer["ahead"], next_count + lease]
        return [*numbers, 0, 0, int(bearer["place"] == "host")]  # 0, 0: octets
