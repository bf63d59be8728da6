"""Bearers that move between their worker and the card while packets pass: nothing is lost, doubled or reordered, and
the numbers go on."""

from __future__ import annotations

import itertools
import os
import time
from concurrent.futures import ThreadPoolExecutor

import configs
import pytest
from paths import own, splitplane
from processes import run, wait_until
from test_card_baas import AM, LINK, CardBaasBed, settle

MOVES = int(os.environ.get("SPLITPLANE_TCP_MOVES", "10"))  # of each bearer, at least
BEARERS = [
    configs.bearer(1, upf=LINK.upf_ipv4, shard=1, rlc="am18", pdcp_sn=18, am=AM, card="card0"),
    configs.bearer(2, upf=LINK.upf_ipv4, shard=2, rlc="am12", pdcp_sn=12, am=AM),
    configs.bearer(3, upf=LINK.upf_ipv4, shard=3, rlc="am18", pdcp_sn=18, am=AM),
]


@pytest.fixture(scope="module", params=["inline", "process"])
def bed(request):
    name = f"mv-{request.param}"
    folder = own("e2e") / name
    folder.mkdir(parents=True, exist_ok=True)
    with CardBaasBed(folder, name, request.param, BEARERS) as made:
        made.wait_for_neighbours()
        yield made


def move(bed: CardBaasBed, number: int, to: str) -> dict:
    """Again, if it is given up for want of time: the bearer goes on where it was."""
    done: dict = {}

    def moved() -> bool:
        done.update(bed.gnb.control.call("place.move", ids=[configs.identity(number)], to=to))
        return done["moved"] == 1 or any(one.get("refused") for one in done["stayed"])

    wait_until("the bearer to move", moved)
    assert (done["moved"], done["stayed"]) == (1, []), done
    return done


def place(bed: CardBaasBed, number: int) -> str:
    return bed.gnb.control.call("bearer.show", id=configs.identity(number)).get("card") or "host"


def top_shows(bed: CardBaasBed) -> bool:
    """As the bearers are; it looks at them once a period of placement."""
    shown = run([splitplane(), "top", "--control", bed.gnb.control.path, "--once", "--interval", 0.2]).stdout
    (row,) = [line.split() for line in shown.splitlines() if line.startswith("static ")]
    on_cards = sum(place(bed, n) == "card0" for n in (1, 2, 3))
    moves = bed.gnb.control.call("place.show")["moves"]
    return [int(n) for n in (*row[1:3], row[5])] == [3 - on_cards, on_cards, moves["to_card"] + moves["to_host"]]


@pytest.mark.parametrize("number", [1, 2, 3], ids=["from-the-card", "am12", "am18"])
def test_files_arrive_equal_while_their_bearer_moves(bed, number):
    bed.set_air()
    ue = BEARERS[number - 1]["ue_ipv4"]
    first = place(bed, number)
    size = max(3_000_000, 300_000 * MOVES)
    file = bed.web.make(f"moving-{number}", size)
    before = bed.am(number)
    moves = []
    with ThreadPoolExecutor(2) as pool:
        down, up = pool.submit(bed.web.download, ue, file), pool.submit(bed.web.upload, ue, file)
        for to in itertools.cycle(["host", "card0"] if first == "card0" else ["card0", "host"]):
            if down.done() and up.done() and len(moves) >= MOVES:
                break
            moves.append(move(bed, number, to))
            time.sleep(0.005)
        down, up = down.result(), up.result()
    assert (down.equal, down.bytes, up.equal, up.bytes) == (True, size, True, size)
    settle(bed, (number,))
    gnb, end = bed.am(number)
    assert gnb["tx_next"] == end["delivered"] == end["rx_next"]
    # A clone that found its VF full is in no window: its PDU has arrived, and is not counted as acknowledged here.
    assert gnb["tx_next"] - bed.worker()["card_copies_lost"] <= gnb["acked"] <= gnb["tx_next"]
    assert gnb["epoch"] == before[0]["epoch"], "RLC did not begin anew"
    wait_until("top to show where the bearers live now", lambda: top_shows(bed))
    longest = max(m["longest_hold_us"] for m in moves)
    print(f"{len(moves)} moves, {sum(m['with_packets'] for m in moves)} with packets, {longest} us at most")
