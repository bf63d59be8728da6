"""Bearers that live in one place in every mode: by lists of the file, and by `ctl place`, also after a restart."""

from __future__ import annotations

import signal

import configs
import pytest
from card import wait_for_card
from instance import Instance
from loaded_card import UPF, LoadedCard
from paths import splitplane
from processes import Processes, run, wait_until

BEARERS = 6
FIRST_TEID = 0x1001
PINS = [
    {"on": "card0", "upf": UPF, "ul_teid": FIRST_TEID, "count": 2},
    {"on": "host", "upf": UPF, "ul_teid": FIRST_TEID + 2},
    {"on": "card0", "upf": UPF, "ul_teid": 0x2001},  # of no bearer of the file
]


class PinnedBed(LoadedCard):
    def __init__(self, folder, processes: Processes, socket):
        super().__init__(
            folder,
            processes,
            socket,
            bearers=BEARERS,
            captures=False,
            trees=[configs.bearer(n, upf=UPF, shard=n) for n in range(1, BEARERS + 1)],
            of_host={"placement": {"period_ms": 50, "pin": PINS}},
        )

    def show(self) -> dict[int, tuple[str, str]]:
        """Where each bearer lives, and who pins it, by its uplink TEID."""
        teids = {b["id"]: b["ul_teid"] for b in self.gnb.control.bearers()}
        rows = self.gnb.control.call("place.show", ids=list(teids))["bearers"]
        return {teids[row["id"]]: (row["place"], row["pinned_by"]) for row in rows}

    def wait_for(self, wanted: dict[int, tuple[str, str]]):
        wanted = {teid if teid > BEARERS else FIRST_TEID + teid - 1: where for teid, where in wanted.items()}
        wait_until(f"bearers to live there: {wanted}", lambda: self.show() == wanted, timeout=10)

    def ctl(self, *words) -> str:
        return run([splitplane(), "ctl", "--config", self.gnb.config, "place", *words]).stdout

    def restart_host(self, how: signal.Signals, *, fresh: bool = False):
        self.gnb.process.signal(how)
        self.gnb.process.wait()
        self.processes.stop(self.gnb.process)
        self.gnb = Instance(self.processes, "gnb-again", "run", self.gnb.config, fresh=fresh)
        wait_for_card(self.gnb, self.card)


@pytest.fixture
def bed(folder, processes, tmp_path_factory) -> PinnedBed:
    return PinnedBed(folder, processes, tmp_path_factory.mktemp("s") / "m")


@pytest.mark.nightly
def test_lists_of_the_file_and_of_ctl_hold_in_every_mode_and_over_restarts(bed):
    control = bed.gnb.control
    ids = {n: configs.identity(n) for n in range(1, BEARERS + 1)}
    by_file = {1: ("card0", "file"), 2: ("card0", "file"), 3: ("host", "file")}
    free = dict.fromkeys((4, 5, 6), ("host", ""))
    bed.wait_for(by_file | free)
    control.call("place.set", mode="ratio", ratio=100)
    bed.wait_for(by_file | dict.fromkeys((4, 5, 6), ("card0", "")))
    control.call("place.set", ratio=0)
    bed.wait_for(by_file | free)

    # By hand, what the file says of 1 and 3 counts no more.
    assert bed.ctl("unpin", ids[1]) == "1 unpinned\n"
    assert bed.ctl("pin", ids[3], ids[4], "--to", "card0") == "2 pinned\n"
    assert bed.ctl("unpin", ids[5]) == "0 unpinned\n"
    # A bearer that the control socket adds is in the file's list, too.
    added = control.call("bearer.add", upf=UPF, ul_teid=0x2001, shard=7)["first"]["id"]
    said = {
        1: ("host", ""),
        2: ("card0", "file"),
        3: ("card0", "ctl"),
        4: ("card0", "ctl"),
        5: ("host", ""),
        6: ("host", ""),
        0x2001: ("card0", "file"),
    }
    bed.wait_for(said)
    shown = bed.ctl("show", ids[3], added)
    assert "  ctl  " in shown and "  file  " in shown, shown
    assert control.stats()["placement"]["pinned"] == 4

    for how in (signal.SIGKILL, signal.SIGINT):
        bed.restart_host(how)
        bed.wait_for(said)  # the file's mode is static
        bed.gnb.control.call("place.set", mode="ratio", ratio=0)
        bed.wait_for(said)
    assert bed.gnb.control.call("place.show")["moves"]["failed"] == 0
    bed.gnb.control.call("bearer.release", id=ids[4])
    bed.restart_host(signal.SIGINT, fresh=True)
    bed.wait_for(by_file | free)  # as if nothing had been said
    bed.gnb.finish()
    bed.card.finish()
