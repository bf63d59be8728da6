"""More bearers than the card has entries, while packets of all of them pass: the busiest live on the card, and those of
the host that find no entry come by its punt VF. SPLITPLANE_SPILL_BEARERS and its like make it long."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import defaultdict

import configs
import pytest
from card import card_state
from generated import QFI
from instance import Control
from loaded_card import UPF, LoadedCard
from processes import wait_until

BEARERS = int(os.environ.get("SPLITPLANE_SPILL_BEARERS", "300"))
ENTRIES = int(os.environ.get("SPLITPLANE_SPILL_ENTRIES", "64"))
HOT = int(os.environ.get("SPLITPLANE_SPILL_HOT", "40"))
RATE = int(os.environ.get("SPLITPLANE_SPILL_RATE", "10000"))
ROUNDS = int(os.environ.get("SPLITPLANE_SPILL_ROUNDS", "8"))
PATIENCE = 20 + BEARERS / 500  # seconds, for moves that end
BUSY = int(os.environ.get("SPLITPLANE_SPILL_BUSY", "20"))  # flows to each hot bearer; the others have one
LOAD_MS = int(os.environ.get("SPLITPLANE_SPILL_LOAD_MS", "2000"))
SHARDS = 256


class Entries:
    """Looks at how many bearers the card has, over and over."""

    def __init__(self, card: Control):
        self.card, self.stop, self.looks, self.most = card, threading.Event(), 0, 0
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.stop.wait(0.005):
            self.most = max(self.most, self.card.call("card.show")["bearers"])
            self.looks += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *failure):
        self.stop.set()
        self.thread.join()


def group(first: int, count: int) -> dict:
    """Bearers `first`, `first` + 1, ... as the host's group has them, spread over all shards."""
    address = (10 << 24 | 45 << 16 | 2) + first
    return {
        "id": configs.identity(first % SHARDS, first // SHARDS),
        "count": count,
        "shards": SHARDS,
        "upf": UPF,
        "qfi": QFI,
        "ue_ipv4": ".".join(str(address >> shift & 255) for shift in (24, 16, 8, 0)),
    }


@pytest.fixture
def bed(folder, processes, tmp_path_factory) -> LoadedCard:
    rows = -(-BEARERS // SHARDS) * SHARDS
    megabytes = 400 + BEARERS // 500
    return LoadedCard(
        folder,
        processes,
        tmp_path_factory.mktemp("s") / "m",
        bearers=BEARERS,
        trees=[{"upf": UPF, "ul_teid": 0x1001, "ue_ipv4": "10.45.0.2", "count": BEARERS}],
        of_host={"max_bearers": 2 * rows, "memory": {"megabytes": megabytes, "mbufs": 32767}},
        of_card={"max_bearers": ENTRIES},
    )


def moves(bed: LoadedCard) -> dict:
    return bed.gnb.control.call("place.show")["moves"]


def serves(bed: LoadedCard) -> int:
    return bed.card.control.call("card.show")["serves"]


def share_of_card(bed: LoadedCard, seconds: float) -> float:
    """Of the packets that come meanwhile: how many the card serves without its host."""

    def numbers() -> tuple[int, int]:
        card = bed.card.control.call("card.show")
        port = next(port for port in card["ports"] if port["name"] == "n3")
        return port["in"], sum(card["punts"].values())

    came, punted = numbers()
    time.sleep(seconds)
    came_later, punted_later = numbers()
    return 1 - (punted_later - punted) / (came_later - came)


def on_card(bed: LoadedCard, ids: list[int]) -> int:
    """How many of these bearers live on the card."""
    rows = [bed.gnb.control.call("place.show", ids=ids[i : i + 500])["bearers"] for i in range(0, len(ids), 500)]
    return sum(row["place"] == "card0" for some in rows for row in some)


@pytest.mark.nightly
def test_the_busiest_of_more_bearers_than_the_card_holds_live_there_and_no_move_loses_any(bed):
    state = card_state(bed.gnb)
    assert (state["bearers"], state["absent"], state["waiting"]) == (BEARERS, BEARERS - ENTRIES, 0)
    first_hot = (BEARERS - HOT) // SHARDS * SHARDS  # shard 0; the first bearers have the card's entries at first
    hot = [configs.identity(n % SHARDS, n // SHARDS) for n in range(first_hot, first_hot + HOT)]
    bed.gnb.control.call(
        "place.set", period_ms=100, load_ms=LOAD_MS, min_stay_ms=0, hysteresis=25, most_moves_per_second=5000
    )
    steps, took, was_there = defaultdict(lambda: [0, 0]), defaultdict(float), 0

    def settle(name: str, done, **settings):
        before, begin = moves(bed), time.monotonic()
        bed.gnb.control.call("place.set", **settings)
        wait_until(name, done, timeout=PATIENCE)
        after = moves(bed)
        took[name] = max(took[name], time.monotonic() - begin)
        for i, way in enumerate(("to_card", "to_host")):
            steps[name][i] += after[way] - before[way]
        print(f"{name} after {took[name]:.2f} s at most, moves {steps[name]}")

    with Entries(Control(bed.card.control.path)) as entries:
        bed.start_generator(RATE, [group(0, BEARERS), *[group(first_hot, HOT)] * (BUSY - 1)])
        wait_until("packets to pass", lambda: card_state(bed.gnb)["punted"] > 1000)
        settle("a full card", lambda: serves(bed) == ENTRIES and on_card(bed, hot) == HOT, mode="spill")
        for _ in range(ROUNDS):
            for percent in (ENTRIES * 50 // BEARERS, ENTRIES * 100 // BEARERS):
                count = BEARERS * percent // 100
                settle(
                    f"{percent} % to be on the card",
                    lambda count=count: abs(serves(bed) - count) <= 1,
                    mode="ratio",
                    ratio=percent,
                )
            was_there = max(was_there, on_card(bed, hot))
            settle("the busy ones to be back", lambda: on_card(bed, hot) == HOT, mode="spill")
        share = share_of_card(bed, max(1.0, (BEARERS + (BUSY - 1) * HOT) / RATE))
        sent = bed.stop_generator()
    bed.gnb.control.call("place.set", mode="static")
    wait_until("nothing to wait", lambda: bed.gnb.control.stats()["workers"][0]["held"] == 0)
    time.sleep(0.3)
    state = card_state(bed.gnb)
    worker = bed.gnb.control.stats()["workers"][0]
    bearers = bed.gnb.control.bearers()
    row = moves(bed)
    card = bed.card.finish()["cards"][0]
    bed.gnb.finish()
    seen = bed.sink(BEARERS + (BUSY - 1) * HOT)
    # A worker that gets no processor time for long finds its VF full. That is no matter of moves.
    full = sum(port["tx_full"] for port in card["ports"] if port["name"].startswith("vf-"))
    numbers = {key: seen[key] for key in ("unique", "lost", "duplicates", "reordered", "too_old")}
    print(f"{sent['sent']} sent, {sent['rate']:.0f} a second; {numbers}; {row}; share {share:.3f}")
    print(f"at most {entries.most} of {ENTRIES} entries in {entries.looks} looks; {state}; punts {card['punts']}")
    print(f"drops of the worker {worker['drops']}, of the card {card['drops']}; {full} at full VFs")
    (bed.folder / "figures.json").write_text(
        json.dumps(
            {
                **numbers,
                **row,
                "sent": sent["sent"],
                "full": full,
                "most": entries.most,
                "share": share,
                "rate": sent["rate"],
            }
        )
    )
    assert seen["unique"] + full == sent["sent"] and full < sent["sent"] / 100
    assert (seen["lost"], seen["duplicates"], seen["reordered"], seen["too_old"]) == (full, 0, 0, 0)
    assert sum(b["downlink"]["transmitted"] for b in bearers) + full == sent["sent"], "each counted where it was sent"
    assert worker["drops"] == {} and worker["balanced"] and set(card["drops"]) <= {"tx_full"}
    assert entries.looks > 100 and entries.most == ENTRIES
    assert (state["refused"], state["failures"], state["connects"], row["failed"]) == (0, 0, 1, 0)
    assert card["punts"]["teid_unknown"] > BEARERS - ENTRIES, "absent bearers are served"
    assert was_there < HOT, "otherwise none had to come back"
    back = steps["the busy ones to be back"]
    assert min(back) > 0, "for each that comes another one leaves"
    assert share > 0.9 * HOT * BUSY / (BEARERS + HOT * (BUSY - 1))
