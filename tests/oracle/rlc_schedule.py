"""Seeded schedules for two RLC entities A and B and a lossy air between them, played as command lines on a host.

The schedule chooses from its seed and from what the host replied, so that the same seed on the same rules gives the
same commands. Profiles: clean, lossy (loss, bursts, duplicates, reordering, idle times, discards, re-establishment)
and hostile (lossy, and PDUs that no peer would send).
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from rlc_invented import invented, mutated


class Host(Protocol):
    def run(self, line: str) -> dict: ...


@dataclass(frozen=True)
class Profile:
    name: str
    loss: float = 0.0
    burst: float = 0.0  # chance that a loss burst begins
    duplicate: float = 0.0
    reorder: float = 0.0
    discard: float = 0.1
    reset: float = 0.0
    hostile: float = 0.0
    mutate: float = 0.0


CLEAN = Profile("clean")
LOSSY = Profile("lossy", loss=0.1, burst=0.02, duplicate=0.05, reorder=0.3, discard=0.2, reset=0.01)
HOSTILE = Profile("hostile", 0.05, 0.01, 0.05, 0.2, discard=0.2, reset=0.05, hostile=2.0, mutate=0.05)
WALL = Profile("wall", loss=0.5, burst=0.02, reorder=0.3)
PROFILES = {profile.name: profile for profile in (CLEAN, LOSSY, HOSTILE)}

GRANTS = {
    "tiny": [(0, 8)],
    "small": [(0, 12), (3, 60)],
    "mixed": [(0, 12), (3, 60), (60, 400), (400, 3000)],
    "large": [(60, 400), (400, 3000)],
}
SDU_OCTETS = {"tiny": [(1, 3)], "small": [(1, 60)], "mixed": [(1, 3), (4, 60), (60, 2000)], "large": [(300, 2000)]}
MAX_BACKLOG = 24  # beyond it the schedule sends no more, so that buffers become empty now and then
PEER = {"a": "b", "b": "a"}


@dataclass
class Air:
    """PDUs on their way to one entity."""

    pdus: list[str] = field(default_factory=list)
    burst_left: int = 0

    def put(self, rng: random.Random, profile: Profile, pdu: str) -> None:
        if rng.random() < profile.burst:
            self.burst_left = rng.randint(2, 12)
        if self.burst_left:
            self.burst_left -= 1
            return
        if rng.random() < profile.loss:
            return
        self.pdus += [pdu] * (2 if rng.random() < profile.duplicate else 1)

    def take(self, rng: random.Random, profile: Profile) -> str:
        late = rng.random() < profile.reorder
        return self.pdus.pop(rng.randrange(min(len(self.pdus), 6)) if late else 0)


class Schedule:
    def __init__(self, host: Host, seed: int, mode: str, sn_bits: int, profile: Profile, smallest_sdu: int = 1) -> None:
        self.host, self.mode, self.sn_bits, self.profile, self.smallest_sdu = host, mode, sn_bits, profile, smallest_sdu
        self.rng = random.Random(f"{seed} {mode} {sn_bits} {profile.name}")
        self.now = 0
        self.air = {name: Air() for name in PEER}
        self.sent: dict[str, dict[int, str]] = {name: {} for name in PEER}  # accepted SDUs by ordinal
        self.accepted = dict.fromkeys(PEER, 0)
        self.delivered: dict[str, Counter[str]] = {name: Counter() for name in PEER}  # at the entity named
        self.acked: dict[str, list[int]] = {name: [] for name in PEER}
        self.state: dict[str, dict] = {}
        self.pdus: list[tuple[str, str]] = []  # (sender, PDU), everything pulled
        self.begin()

    def begin(self) -> None:
        rng = self.rng
        config = self.am_config() if self.mode == "am" else {"t_reassembly": rng.choice([0, 1, 15, 35, 35])}
        config |= {"sn_bits": self.sn_bits, "max_queued": rng.choice([4096, 4096, 4096, 8])}
        words = " ".join(f"{key}={value}" for key, value in config.items())
        for name in PEER:
            self.run(f"new {name} {self.mode} {words}", name)
        if rng.random() < 0.6:
            self.seed_near_wrap()
        self.sizes = SDU_OCTETS[rng.choice(list(SDU_OCTETS))]
        self.grants = GRANTS[rng.choice(list(GRANTS))]
        self.hurry = rng.choice([1, 3, 8])  # milliseconds that pass at most at a tick
        self.spite = rng.choice([0.5, 1, 4])
        self.one_way = rng.random() < 0.3

    def am_config(self) -> dict[str, int]:
        rng = self.rng
        return {
            "poll_pdu": rng.choice([0, 1, 2, 4, 16]),
            "poll_byte": rng.choice([0, 0, 50, 500]),
            "max_retx": rng.choice([1, 2, 4, 8]),
            "t_poll_retransmit": rng.choice([0, 5, 45]),
            "t_reassembly": rng.choice([0, 1, 15, 35]),
            "t_status_prohibit": rng.choice([0, 0, 1, 10]),
        }

    def seed_near_wrap(self) -> None:
        modulus = 1 << self.sn_bits
        edge = self.rng.choice([modulus, modulus, modulus // 2])
        sn = (edge - self.rng.randint(0, 40)) % modulus
        for name in PEER:
            self.run(f"seed {name} {sn}", name)

    def run(self, line: str, name: str) -> dict:
        reply = self.host.run(line)
        self.state[name] = reply["state"]
        self.acked[name] += reply["events"]["acked"]
        return reply

    def play(self, steps: int) -> int:
        """Some more commands than `steps` where one action takes several; returns how many."""
        actions = ["send", "pull", "deliver", "tick", "idle", "discard", "reset", "hostile"]
        weights = [4, 8, 10, 3, 0.1, self.profile.discard, self.profile.reset, self.profile.hostile * self.spite]
        played = 0
        while played < steps:
            action = self.rng.choices(actions, weights)[0]
            name = self.rng.choice("ab")
            played += getattr(self, action)(name)
        return played

    def send(self, name: str) -> int:
        if self.one_way and name == "b":
            return 0
        count = 1 if self.rng.random() < 0.7 else self.rng.randint(2, 8)
        count = count if self.state[name]["queued"] < MAX_BACKLOG else 0
        for _ in range(count):
            low, high = self.rng.choice(self.sizes)
            sdu = self.rng.randbytes(max(self.rng.randint(low, high), self.smallest_sdu))
            if self.run(f"send {name} {sdu.hex()}", name)["accepted"]:
                self.sent[name][self.accepted[name]] = sdu.hex()
                self.accepted[name] += 1
        return count

    def pull(self, name: str, grant: int | None = None) -> int:
        if grant is None:
            grant = self.rng.randint(*self.rng.choice(self.grants))
        pdu = self.run(f"pull {name} {grant}", name)["pdu"]
        if pdu is not None:
            self.pdus.append((name, pdu))
            self.air[PEER[name]].put(self.rng, self.profile, pdu)
        return 1

    def deliver(self, name: str) -> int:
        if not self.air[name].pdus:
            return 0
        pdu = self.air[name].take(self.rng, self.profile)
        if self.rng.random() < self.profile.mutate:
            pdu = mutated(self.rng, pdu)
        return self.receive(name, pdu)

    def receive(self, name: str, pdu: str) -> int:
        if pdu:
            self.delivered[name].update(self.run(f"receive {name} {pdu}", name)["delivered"])
        return 1

    def tick(self, name: str) -> int:
        """Mostly both; sometimes the clock of one entity stays behind."""
        self.now += self.rng.randint(0, self.hurry)
        names = "ab" if self.rng.random() < 0.8 else name
        for each in names:
            self.run(f"tick {each} {self.now}", each)
        return len(names)

    def idle(self, name: str) -> int:
        self.now += self.rng.randint(20, 200)
        return self.tick(name)

    def discard(self, name: str) -> int:
        """Often one of the newest, which may still be there whole; sometimes one that was never accepted."""
        number = max(0, self.accepted[name] - self.rng.randint(0, 8))
        if self.run(f"discard {name} {number}", name)["discarded"]:
            del self.sent[name][number]
        return 1

    def reset(self, name: str) -> int:
        """Both ends; PDUs that are still in the air reach the new entities only in a hostile schedule."""
        for each in PEER:
            self.run(f"reset {each}", each)
            self.sent[each], self.accepted[each], self.acked[each] = {}, 0, []
            self.delivered[each].clear()
            if not self.profile.hostile:
                self.air[each].pdus.clear()
        return 2

    def hostile(self, name: str) -> int:
        return self.receive(name, invented(self.rng, self.mode, self.sn_bits, self.state[name]))

    def fill_window(self, name: str, leave: int, arrives: float) -> None:
        """AM: SDUs of one octet, no STATUS comes back, until `leave` SNs are left; then larger SDUs in segments."""
        window, modulus = 1 << self.sn_bits - 1, 1 << self.sn_bits
        while (self.state[name]["tx_next"] - self.state[name]["tx_next_ack"]) % modulus < window - leave:
            if not self.state[name]["queued"]:
                self.run(f"send {name} {self.rng.randbytes(1).hex()}", name)
            pdu = self.run(f"pull {name} 8", name)["pdu"]
            if pdu is not None and self.rng.random() < arrives:
                self.receive(PEER[name], pdu)
        self.sizes, self.grants = SDU_OCTETS["small"], GRANTS["small"]
        for _ in range(40):
            self.rng.choice([self.send, self.pull, self.pull, self.pull, self.tick])(name)

    def finish(self) -> None:
        """The air becomes clean and both talk until nothing is left to send."""
        self.profile = CLEAN
        for _ in range(20_000):
            for name in PEER:
                self.pull(name, self.rng.randint(40, 3000))
                while self.air[name].pdus:
                    self.deliver(name)
            if all(self.is_idle(name) for name in PEER):
                return
            self.now += 5
            for name in PEER:
                self.run(f"tick {name} {self.now}", name)
        raise AssertionError(f"still not idle: {self.state}")

    def is_idle(self, name: str) -> bool:
        state = self.state[name]
        timers = [value for key, value in state.items() if key.startswith("t_")]
        return not self.air[name].pdus and not any(state.get(key) for key in BUFFERS) and not any(timers)


BUFFERS = ("queued", "unacked", "pending_retx", "held", "status_triggered")
