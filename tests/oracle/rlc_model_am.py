"""An RLC AM entity, both sides, as formats.md section 5 describes it: the judge of the C++ one."""

from __future__ import annotations

from rlc_model_am_rx import AmRx
from rlc_model_am_tx import AmConfig, AmTx
from rlc_pdu import is_control, read_amd, read_status


class AmEntity:
    def __init__(self, config: AmConfig, tx: type[AmTx] = AmTx, rx: type[AmRx] = AmRx) -> None:
        self.config = config
        self.sides = tx, rx
        self.now = 0
        self.reset()

    def reset(self) -> None:
        """Re-establishment: drop everything, stop timers, state to initial values (5.7). Time goes on."""
        tx, rx = self.sides
        self.tx, self.rx = tx(self.config), rx(self.config)

    def seed(self, sn: int) -> None:
        self.tx.seed(sn)
        self.rx.seed(sn)

    def send(self, sdu: bytes) -> bool:
        return self.tx.send(sdu)

    def discard(self, number: int) -> bool:
        return self.tx.discard(number)

    def pull(self, grant: int) -> bytes | None:
        """STATUS before retransmission before new data (5.4.1)."""
        if self.rx.status_is_due():
            return self.rx.pull_status(grant, self.now)
        return self.tx.pull(grant, self.now)

    def receive(self, pdu: bytes) -> list[bytes]:
        if is_control(pdu):
            status = read_status(self.config.sn_bits, pdu)
            if status is not None:
                self.tx.receive_status(status)
            return []
        data = read_amd(self.config.sn_bits, pdu)
        return [] if data is None else self.rx.receive(data, self.now)

    def tick(self, now: int) -> None:
        self.now = now
        self.rx.tick(now)
        self.tx.tick(now)

    def events(self) -> dict[str, list[int]]:
        """Since the last call."""
        events = {"acked": sorted(self.tx.acked_events), "max_retx": self.tx.max_retx_events}
        self.tx.acked_events, self.tx.max_retx_events = [], []
        return events

    def state(self) -> dict:
        return self.tx.state() | self.rx.state()
