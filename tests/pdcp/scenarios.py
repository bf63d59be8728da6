"""Seeded scenarios: two entities and a bad air between them, or an SDAP entity alone, as steps (protocol.md).

A scenario chooses from its seed and from the model's answers, so one seed always gives the same steps. The air drops,
repeats, reorders and changes PDUs. An insider sends valid PDUs with any COUNT, as a random loss seldom reaches an edge.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from typing import Any

from pdcp.model import Config, Security, protect
from pdcp.pdu import LAST_COUNT, StatusReport, bitmap_of, window_size

Run = Callable[[dict], dict]
PEER = {"gnb": "ue", "ue": "gnb"}
SDAP_SHARE = 0.2  # of the scenarios
STEPS_OF_A_SCENARIO = 250
STEPS_OF_AN_SDAP_SCENARIO = 80
LONGEST_SDU = 9000
LONGEST_BITMAP = 8 * 8995  # of a status report of 9000 octets
SECURITIES = [("nea2", "nia2")] * 4 + [("nea2", None), ("nea0", "nia2"), ("nea0", "nia0"), ("nea0", None)]
T_REORDERINGS = [None, 0, 1000, 5000, 20_000]
DISCARD_TIMERS = [None, None, 2000, 10_000, 50_000]
WEIGHTS = {
    "send": 30,
    "deliver": 30,
    "confirm": 8,
    "pass_time": 8,
    "to_a_deadline": 4,
    "replay": 3,
    "forge": 4,
    "insider": 6,
    "insider_status": 1.5,
    "odd_sdu": 0.7,
    "data_recovery": 0.8,
    "reestablish": 1.2,
    "suspend": 0.5,
    "set_t_reordering": 0.5,
    "get_count": 0.7,
    "counter_check": 0.7,
    "set_count": 0.3,
    "release": 0.1,
}
HOSTILE = ("replay", "forge", "insider", "insider_status")


class PdcpScenario:
    def __init__(self, run: Run, seed: int) -> None:
        self.run_step, self.rng = run, random.Random(f"pdcp {seed}")
        self.now = 0
        self.state: dict[str, dict] = {}
        self.air: dict[str, list[tuple[int | None, str]]] = {name: [] for name in PEER}  # on their way to `name`
        self.history: dict[str, deque[tuple[int | None, str]]] = {name: deque(maxlen=60) for name in PEER}
        self.arrived: dict[str, list[int]] = {name: [] for name in PEER}  # COUNTs that RLC of `name` may confirm
        self.begin()

    # The two entities

    def begin(self) -> None:
        rng = self.rng
        self.loss, self.repeat = rng.choice([0, 0.05, 0.3]), rng.choice([0, 0.05])
        self.reach = rng.choice([1, 1, 3, 12])  # how far a PDU may overtake
        spite = rng.choice([0, 0.3, 1])
        self.weights = {action: weight * (spite if action in HOSTILE else 1) for action, weight in WEIGHTS.items()}
        self.algorithms = rng.choice(SECURITIES)
        self.security = self.new_security()
        timer = rng.choice(T_REORDERINGS)
        sn_bits = [rng.choice([12, 12, 18])] * 2 if rng.random() < 0.8 else [12, 18]
        shared = {
            "rlc": rng.choice(["am", "am", "um"]),
            "drb": rng.randint(1, 32),
            "sn_bits_ul": sn_bits[0],
            "sn_bits_dl": sn_bits[1],
            "sdap_header_ul": rng.random() < 0.5,
            "sdap_header_dl": rng.random() < 0.5,
            "t_reordering_us": timer,
            "discard_timer_us": rng.choice(DISCARD_TIMERS),
            "out_of_order_delivery": rng.random() < 0.25,
            "status_report_required": rng.random() < 0.7,
            "max_in_flight": rng.choice([None, None, 8]),
        }
        begins = {name: self.first_counts(Config(role=name, **shared)) for name in PEER}
        if rng.random() < 0.1:
            shared["count_threshold"] = begins["gnb"] + rng.randint(0, 60)
        self.config = {name: Config(role=name, **shared) for name in PEER}
        for name in PEER:
            self.new(name)
        for name in PEER:
            if begins[name]:
                self.set_count_to(name, begins[name], begins[PEER[name]])

    def new(self, name: str) -> None:
        config = {key: value for key, value in vars(self.config[name]).items() if value != getattr(Config, key)}
        self.run(name, "new", config=config, security=self.as_values(self.security))

    def first_counts(self, config: Config) -> int:
        """TX_NEXT near a wrap of the SN, of the HFN, near half of the SN space, or near the last COUNT."""
        rng, modulus = self.rng, 1 << config.tx_sn_bits
        edge = rng.choice([0, 0, 0, modulus, 5 * modulus, modulus // 2, 3 * modulus // 2, 1 << 31, LAST_COUNT])
        return max(0, edge - rng.randint(0, 40))

    def set_count_to(self, name: str, tx_next: int, rx_deliv: int) -> None:
        reach = self.window(name) - 1
        received = sorted({rx_deliv + self.rng.randint(1, min(30, reach)) for _ in range(self.rng.choice([0, 0, 3]))})
        sdus = [[count, self.rng.randbytes(4).hex()] for count in received if count < LAST_COUNT]
        self.run(name, "set_count", tx_next=tx_next, rx_deliv=rx_deliv, received=sdus)

    def window(self, name: str) -> int:
        return window_size(self.config[name].rx_sn_bits)

    def new_security(self) -> Security:
        cipher, integrity = self.algorithms
        return Security(cipher, self.rng.randbytes(16), integrity, self.rng.randbytes(16))

    @staticmethod
    def as_values(security: Security) -> dict[str, str | None]:
        keys = {"cipher_key": security.cipher_key.hex(), "integrity_key": security.integrity_key.hex()}
        return {"cipher": security.cipher, "integrity": security.integrity} | keys

    def run(self, name: str, op: str, **values: Any) -> dict:
        reply = self.run_step({"entity": name, "op": op, "t": self.now, **values})
        self.state[name] = reply["state"]
        for count, pdu in reply["pdus"]:
            self.history[PEER[name]].append((count, pdu))
            if self.rng.random() >= self.loss:
                self.air[PEER[name]] += [(count, pdu)] * (2 if self.rng.random() < self.repeat else 1)
        return reply

    def play(self, steps: int) -> None:
        actions = self.rng.choices(list(self.weights), list(self.weights.values()), k=steps)
        for action in actions:
            if self.rng.random() < 0.2:
                self.now += self.rng.randint(0, 500)
            getattr(self, action)(self.rng.choice(("gnb", "ue")))

    # What the neighbours do

    def send(self, name: str) -> None:
        size = self.rng.randint(1, 40) if self.rng.random() < 0.97 else self.rng.randint(41, 1500)
        self.run(name, "send_sdu", data=self.rng.randbytes(size).hex())

    def odd_sdu(self, name: str) -> None:
        """At the limits, and with the look of an end-marker control PDU."""
        size = self.rng.choice([0, 1, LONGEST_SDU, LONGEST_SDU + 1])
        self.run(name, "send_sdu", data="05" if size == 1 else self.rng.randbytes(size).hex())

    def deliver(self, name: str) -> None:
        air = self.air[name]
        if air:
            count, pdu = air.pop(self.rng.randrange(min(self.reach, len(air))))
            if count is not None:
                self.arrived[PEER[name]].append(count)
            self.run(name, "receive_pdu", data=pdu)

    def confirm(self, name: str) -> None:
        """Most of what arrived, not always in order; sometimes one that never did."""
        arrived = self.arrived[name]
        counts = [arrived.pop(self.rng.randrange(len(arrived))) for _ in range(self.rng.randint(0, len(arrived)))]
        if self.rng.random() < 0.1:
            counts.append(max(0, self.state[name]["tx_next"] - self.rng.randint(0, 5)))
        self.run(name, "confirm", counts=counts)

    def pass_time(self, name: str) -> None:
        self.now += self.rng.choice([0, 1, 100, 999, 1000, 5000, 30_000])
        for each in ("gnb", "ue") if self.rng.random() < 0.7 else (name,):
            self.run(each, "advance")

    def to_a_deadline(self, name: str) -> None:
        """One before t-Reordering runs out, at that moment, and one after."""
        deadline = self.state[name]["t_reordering"]
        for moment in (-1, 0, 1):
            if deadline is not None and self.now <= deadline + moment:
                self.now = deadline + moment
                self.run(name, "advance")

    # Attackers and odd peers

    def replay(self, name: str) -> None:
        if self.history[name]:
            self.run(name, "receive_pdu", data=self.rng.choice(self.history[name])[1])

    def forge(self, name: str) -> None:
        rng = self.rng
        pdu = (
            bytearray.fromhex(rng.choice(self.history[name])[1]) if self.history[name] else bytearray(rng.randbytes(9))
        )
        kind = rng.choice(["bit", "bit", "cut", "longer", "random", "empty", "first", "reserved"])
        if kind == "bit":
            pdu[rng.randrange(len(pdu))] ^= 1 << rng.randrange(8)
        elif kind == "cut":
            del pdu[rng.randrange(len(pdu)) :]
        elif kind == "longer":
            pdu += rng.randbytes(rng.choice([1, 4, LONGEST_SDU]))
        elif kind == "random":
            pdu = bytearray(rng.randbytes(rng.randint(1, 20)))
        elif kind == "empty":
            pdu = bytearray()
        elif kind == "first":
            pdu[0] = rng.randrange(256)
        else:
            pdu[0] ^= rng.choice([0x10, 0x20, 0x40, 0x70])
        self.run(name, "receive_pdu", data=pdu.hex())

    def insider(self, name: str) -> None:
        """Valid PDUs near each edge of the receiver: window, RX_DELIV, RX_NEXT, the first and the last COUNT."""
        rng, state, window = self.rng, self.state[name], self.window(name)
        deliv = state["rx_deliv"]
        edges = [deliv, state["rx_next"]]
        edges += [deliv - window, deliv + window] * (rng.random() < 0.3)
        edges += [LAST_COUNT, rng.randrange(LAST_COUNT)] * (
            rng.random() < 0.1 or deliv > LAST_COUNT - self.window(name)
        )
        if far := window > LONGEST_BITMAP and rng.random() < 0.1:
            edges = [deliv + LONGEST_BITMAP]
        count = rng.choice(edges) + rng.choice([-2, -1, -1, 0, 0, 1, 2])
        octets = rng.choice([1, 4, 10, 10, LONGEST_SDU, LONGEST_SDU + 1] if rng.random() < 0.05 else [0, 1, 4, 10])
        self.run(name, "receive_pdu", data=self.valid_pdu(name, count & LAST_COUNT, rng.randbytes(octets)).hex())
        if far:
            self.data_recovery(name)

    def valid_pdu(self, name: str, count: int, sdu: bytes) -> bytes:
        config = self.config[name]
        header = config.rx_sdap_header
        direction = 1 - config.tx_direction
        return protect(self.security, config.rx_sn_bits, count, config.bearer, direction, sdu, header)

    def insider_status(self, name: str) -> None:
        rng = self.rng
        fmc = self.state[name]["tx_next"] - rng.randint(-2, 20)
        if rng.random() < 0.1:
            fmc = rng.choice([LAST_COUNT, 0, rng.randrange(LAST_COUNT)])
        received = {fmc + 1 + int(rng.expovariate(0.1)) for _ in range(rng.choice([0, 2, 10]))}
        pdu = StatusReport(fmc & LAST_COUNT, bitmap_of(fmc, received)).write()
        if rng.random() < 0.3:
            pdu = rng.choice(
                [pdu[: rng.randint(1, 5)], pdu[:4], pdu + bytes(8995), pdu + bytes(8996), b"\x0f" + pdu[1:]]
            )
        self.run(name, "receive_pdu", data=pdu.hex())

    # RRC

    def data_recovery(self, name: str) -> None:
        self.air[PEER[name]].clear()
        self.run(name, "data_recovery")

    def reestablish(self, name: str) -> None:
        """Mostly with new keys; sometimes with old ones, or with one new key of two."""
        old, fresh = self.security, self.new_security()
        kind = self.rng.random()
        if kind < 0.15:
            fresh = old
        elif kind < 0.2:
            fresh = Security(old.cipher, old.cipher_key, old.integrity, fresh.integrity_key)
        elif kind < 0.25:
            fresh = Security(old.cipher, fresh.cipher_key, old.integrity, old.integrity_key)
        air = {each: self.air[each] for each in PEER}
        self.air = {each: [] for each in PEER}
        replies = [self.run(each, "reestablish", security=self.as_values(fresh)) for each in (name, PEER[name])]
        if not replies[0]["reply"]:
            self.security = fresh
            self.arrived = {each: [] for each in PEER}
        if self.rng.random() < 0.3:  # late PDUs under the old key
            for each in PEER:
                self.air[each] = air[each][:5] + self.air[each]

    def suspend(self, name: str) -> None:
        for each in ("gnb", "ue"):
            self.run(each, "suspend")
            self.arrived[each].clear()
            if self.rng.random() < 0.7:
                self.air[each].clear()
        for _ in range(self.rng.randint(0, 12)):
            action = self.rng.choice([self.send, self.send, self.deliver, self.pass_time, self.confirm, self.get_count])
            action(self.rng.choice(("gnb", "ue")))
        if self.rng.random() < 0.1:
            self.data_recovery(name)
        while any(self.state[each]["suspended"] for each in PEER):
            self.reestablish(name)

    def set_t_reordering(self, name: str) -> None:
        self.run(name, "set_t_reordering", value_us=self.rng.choice(T_REORDERINGS))

    def get_count(self, name: str) -> None:
        self.run(name, "get_count")

    def counter_check(self, name: str) -> None:
        self.run(name, "counter_check")

    def set_count(self, name: str) -> None:
        """Mostly refused: something is held, or a COUNT would come back."""
        state = self.state[name]
        values = [state[key] + self.rng.choice([-1, 0, 0, 3]) for key in ("tx_next", "rx_deliv")]
        if self.rng.random() < 0.05:
            values[self.rng.randrange(2)] = LAST_COUNT
        self.set_count_to(name, *(min(max(0, value), LAST_COUNT) for value in values))

    def release(self, name: str) -> None:
        for each in PEER:
            self.run(each, "release")
            self.air[each].clear()
            self.arrived[each].clear()
            self.history[each].clear()
        self.security = self.new_security()
        for each in PEER:
            self.new(each)


class SdapScenario:
    """One entity, a few flows and DRBs; PDUs as the peer may send them."""

    def __init__(self, run: Run, seed: int) -> None:
        self.run_step, self.rng = run, random.Random(f"sdap {seed}")
        self.qfis = [*self.rng.sample(range(64), 4), 0, 63]
        self.role = self.rng.choice(["ue", "gnb"])
        self.drbs = {drb: self.drb() for drb in self.rng.sample(range(1, 33), 3)}
        default = self.rng.choice([None, *self.drbs, *self.drbs])
        if default is not None:
            self.drbs[default]["header_ul"] = True  # 5.2.1 NOTE 2
        self.run(
            "new", kind="sdap", role=self.role, drbs={str(k): v for k, v in self.drbs.items()}, default_drb=default
        )

    def drb(self) -> dict:
        flags = {f"header_{direction}": self.rng.random() < 0.6 for direction in ("ul", "dl")}
        return flags | {"qfi": self.rng.choice([None, *self.qfis])}

    def run(self, op: str, **values: Any) -> dict:
        return self.run_step({"entity": "sdap", "op": op, "t": 0, **values})

    def play(self, steps: int) -> None:
        rng = self.rng
        for _ in range(steps):
            action = rng.choices(["send", "receive", "configure", "release", "drb_release"], [10, 10, 3, 1, 0.15])[0]
            qfi, drb = rng.choice(self.qfis), rng.choice([*self.drbs] * 9 + [rng.randint(1, 32)])
            data = rng.randbytes(rng.choice([0, 1, 2, 5, 5, 5]))
            if action == "send":
                qfi = qfi if rng.random() < 0.97 else 64
                flags = {name: rng.random() < 0.3 for name in ("rdi", "rqi")}
                self.run("sdap_send", qfi=qfi, data=data.hex(), **flags)
            elif action == "receive":
                header = bytes([rng.choice([0, 0, 0x40, 0x80, 0x80, 0xC0]) | qfi])
                self.run("sdap_receive", drb=drb, data=((header if rng.random() < 0.95 else b"") + data).hex())
            elif action == "configure":
                self.run("rule_configure", qfi=qfi, drb=drb)
            elif action == "release":
                self.run("rule_release", qfi=qfi)
            else:
                self.run("drb_release", drb=drb)


KINDS = ("pdcp", "sdap")


def play(run: Run, seed: int, steps: int, kinds: tuple[str, ...] = KINDS) -> None:
    """One scenario of some hundred steps. It may take a few more than `steps`."""
    kind = "sdap" if random.Random(seed).random() < SDAP_SHARE else "pdcp"
    if (kind if len(kinds) > 1 else kinds[0]) == "sdap":
        SdapScenario(run, seed).play(min(steps, STEPS_OF_AN_SDAP_SCENARIO))
    else:
        PdcpScenario(run, seed).play(min(steps, STEPS_OF_A_SCENARIO))
