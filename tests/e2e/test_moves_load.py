"""Bearers that move between worker and card, one after the other, while 50,000 packets a second pass and the control
thread has other work. The card's air port is a file, so each frame is seen in its order: `splitplane sink` and tshark
judge it. SPLITPLANE_MOVES makes it long."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections import defaultdict

import air_views
import configs
import pytest
from instance import Control, Instance
from judge import PDCP, PDCP_FIELDS, RLC, RLC_FIELDS, judge, number
from loaded_card import BEARERS, UPF, LoadedCard
from processes import wait_until

MOVES = int(os.environ.get("SPLITPLANE_MOVES", "40"))  # each way


class Hammer:
    """Asks the gNB other things, and changes other bearers, as fast as it answers."""

    def __init__(self, gnb: Instance):
        self.gnb, self.stop, self.calls = gnb, threading.Event(), 0
        self.thread = threading.Thread(target=self.run)

    def run(self):
        control = Control(self.gnb.control.path)
        other = configs.bearer(100, upf=UPF, shard=100, rlc="am18", pdcp_sn=18)
        while not self.stop.is_set():
            added = control.call("bearer.add", **other)["first"]["id"]
            control.call("bearer.list")
            control.call("card.show")
            control.call("bearer.release", id=added)
            self.calls += 4

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *failure):
        self.stop.set()
        self.thread.join()


@pytest.fixture
def loaded(folder, processes, tmp_path_factory) -> LoadedCard:
    return LoadedCard(folder, processes, tmp_path_factory.mktemp("s") / "m")


def figures(bed: LoadedCard, **values: object):
    """For `make accept`: what a run found, whatever the test says of it."""
    (bed.folder / "figures.json").write_text(json.dumps(values))


def steps_by_one(sns: list[int], bits: int) -> bool:
    return all((b - a) % (1 << bits) == 1 for a, b in zip(sns, sns[1:], strict=False))


@pytest.mark.nightly
def test_moves_under_load_lose_double_and_reorder_nothing(loaded):
    draw = random.Random(18)
    places = dict.fromkeys(loaded.ids(), "card0")
    totals = {"moved": 0, "with_packets": 0, "packets": 0}
    holds, failed = [], []
    loaded.start_generator()
    wait_until("packets to pass", lambda: loaded.gnb.control.bearers()[0]["downlink"]["transmitted"] > 100)
    with Hammer(loaded.gnb) as hammer:
        begin = time.monotonic()
        for _ in range(2 * MOVES):
            bearer = draw.choice(loaded.ids())
            to = "host" if places[bearer] == "card0" else "card0"
            done = loaded.gnb.control.call("place.move", ids=[bearer], to=to)
            if done["moved"] == 0:
                failed.append(done["stayed"][0]["why"])
                continue
            places[bearer] = to
            holds.append(done["longest_hold_us"])
            for key in totals:
                totals[key] += done[key]
        seconds = time.monotonic() - begin
    sent = loaded.stop_generator()
    wait_until("nothing to wait", lambda: loaded.gnb.control.stats()["workers"][0]["held"] == 0)
    time.sleep(0.3)
    worker = loaded.gnb.control.stats()["workers"][0]
    bearers = loaded.gnb.control.bearers()
    card = loaded.card.finish()["cards"][0]
    loaded.gnb.finish()
    seen = loaded.sink()
    figures(
        loaded,
        moved=totals["moved"],
        failed=len(failed),
        seconds=seconds,
        with_packets=totals["with_packets"],
        packets=totals["packets"],
        hold_us=sorted(holds)[len(holds) // 2],
        longest_hold_us=max(holds),
        other_calls=hammer.calls,
        sent=sent["sent"],
        rate=sent["rate"],
        **{key: seen[key] for key in ("lost", "duplicates", "reordered")},
    )
    print(
        f"{totals['moved']} moves ({len(failed)} failed: {set(failed)}) in {seconds:.1f} s, "
        f"{totals['with_packets']} with packets in flight, "
        f"{totals['packets']} of them; held for {sorted(holds)[len(holds) // 2]} us, {max(holds)} at most; "
        f"{hammer.calls} other calls; {sent['sent']} sent, {sent['rate']:.0f} a second; "
        f"worker drops {worker['drops']}, card {card['drops']}"
    )
    print({key: seen[key] for key in ("unique", "lost", "duplicates", "reordered", "too_old", "flows_hit")})
    assert seen["unique"] == sent["sent"]
    assert (seen["lost"], seen["duplicates"], seen["reordered"], seen["too_old"]) == (0, 0, 0, 0)
    assert worker["drops"] == {} and worker["balanced"]
    assert totals["moved"] >= 1.9 * MOVES and totals["with_packets"] >= totals["moved"] / 2
    assert sum(b["downlink"]["transmitted"] for b in bearers) == sent["sent"], "each counted once, where it was sent"

    rlc, pdcp, ues = air_views.translate(loaded.capture, loaded.folder)
    assert len(ues) == BEARERS
    for capture, fields, options, name, bits in (
        (rlc, RLC_FIELDS, RLC, "rlc-nr.am.sn", lambda n: (18, 12)[n % 2]),
        (pdcp, PDCP_FIELDS, PDCP, "pdcp-nr.seq-num", lambda n: (18, 12)[n // 2 % 2]),
    ):
        verdict = judge(capture, fields, options)
        assert len(verdict.rows) == sent["sent"]
        assert not verdict.complaints, verdict
        ue_field = name.split(".")[0] + ".ueid"
        sns = defaultdict(list)
        for row in verdict.rows:
            sns[number(row[ue_field])].append(number(row[name]))
        for n, bearer in enumerate(loaded.ids(), start=1):
            assert steps_by_one(sns[ues[bearer]], bits(n)), f"{name} of bearer {n}"


RATIOS = [int(r) for r in os.environ.get("SPLITPLANE_RATIOS", "50,0,100,20").split(",")]


@pytest.mark.nightly
@pytest.mark.parametrize("of", ["bearers", "load"])
def test_the_share_on_the_card_is_the_one_that_was_asked_for(folder, processes, tmp_path_factory, of):
    """Nothing is lost on the way there, although dozens of bearers move at once."""
    bed = LoadedCard(folder, processes, tmp_path_factory.mktemp("s") / "m", bearers=100)
    bed.gnb.control.call("place.set", period_ms=100, load_ms=1000, min_stay_ms=0, most_moves_per_second=2000)
    bed.start_generator(20_000)
    wait_until("packets to pass", lambda: bed.gnb.control.bearers()[0]["downlink"]["transmitted"] > 10)
    shares = {}
    for ratio in RATIOS:
        bed.gnb.control.call("place.set", mode="ratio", ratio=ratio, ratio_of=of)
        bed.moves_seen = None
        wait_until("the bearers to have moved", bed.settled, timeout=20)
        shares[ratio] = 100 * bed.share(1.0)
    sent = bed.stop_generator()
    wait_until("nothing to wait", lambda: bed.gnb.control.stats()["workers"][0]["held"] == 0)
    time.sleep(0.3)
    row = bed.gnb.control.stats()["placement"]
    bed.card.finish()
    bed.gnb.finish()
    seen = bed.sink()
    figures(bed, shares=shares, **{key: seen[key] for key in ("lost", "duplicates", "reordered")})
    print(f"ratio of {of}: " + ", ".join(f"{asked} -> {got:.1f} %" for asked, got in shares.items()), row)
    assert all(abs(asked - got) < 2 for asked, got in shares.items()), shares
    assert (seen["unique"], seen["lost"], seen["duplicates"], seen["reordered"]) == (sent["sent"], 0, 0, 0)
    assert row["failed"] == 0 and row["to_card"] > 0 < row["to_host"]
