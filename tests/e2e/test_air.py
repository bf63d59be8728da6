"""The air of a UE side: what its counters say was lost, doubled and overtaken is what datagrams and sequence numbers
saw, and the seed alone says which frames are lost."""

from __future__ import annotations

import socket
import time
from itertools import islice, pairwise

import configs
import pytest
from air_model import losses
from checks import Checks, check_workers
from namespaces import N3Link
from paths import splitplane
from processes import Failure, run, wait_until
from testbed import Testbed, assert_passed
from upf import SERVER_IPV4
from wire import SO_RCVBUFFORCE, socket_in

LINK = N3Link()
UE = "10.45.0.2"
BEARER = configs.bearer(1, upf=LINK.upf_ipv4, shard=1, rlc="um12", pdcp_sn=18)
COUNT = 300


class AirBed(Testbed):
    """A testbed whose UE side has an air; its frames are the numbered datagrams of one UM bearer and nothing else."""

    def __init__(self, folder, name: str, air: dict | None):
        super().__init__(folder, name, configs.one_worker(name, [BEARER]))
        self.air = air

    def ue_tree(self, tree: dict) -> dict:
        if self.air is not None:
            tree["ue"]["air"] = self.air
        return tree

    def __enter__(self) -> AirBed:
        super().__enter__()
        self.ends = {}
        for name, netns, address in (("ue", self.network.ue, UE), ("server", self.network.core, SERVER_IPV4)):
            end = self.ends[name] = socket_in(netns, socket.AF_INET, socket.SOCK_DGRAM)
            self.stack.callback(end.close)
            end.bind((address, 0))
            end.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)  # nobody reads while the test sends
            end.setblocking(False)
        self.wait_for_neighbours()
        return self

    def send(self, source: str, target: str, count: int = COUNT):
        """Datagrams 1 to count, 1 ms apart."""
        address = self.ends[target].getsockname()
        for number in range(1, count + 1):
            self.ends[source].sendto(number.to_bytes(4, "big"), address)
            time.sleep(0.001)

    def arrived(self, target: str, count: int) -> list[int]:
        """Numbers of the next `count` datagrams in the order of their coming, and of whatever came behind them."""
        numbers: list[int] = []

        def enough() -> bool:
            try:
                while True:
                    numbers.append(int.from_bytes(self.ends[target].recv(64), "big"))
            except BlockingIOError:
                return len(numbers) >= count

        wait_until(f"{count} datagrams at the {target}", enough)
        return numbers

    def settled(self, received_down: int, received_up: int) -> tuple[dict, dict]:
        """Counters when so many frames have crossed the air, and the demo's own verdict on the UE side."""

        def crossed() -> bool:
            air = self.ues[0].control.stats()["air"]
            counts = [air[way]["received"] for way in ("downlink", "uplink")]
            return counts == [received_down, received_up] and not any(way["held"] for way in air.values())

        wait_until(f"{received_down} frames down and {received_up} up", crossed)
        stats = self.ues[0].control.stats()
        checks = Checks()
        check_workers(checks, "UE", stats)
        assert_passed(checks)
        (port,), down, up = stats["ports"], stats["air"]["downlink"], stats["air"]["uplink"]
        assert down["balanced"] and up["balanced"] and stats["totals"]["balanced"]
        assert (down["received"], down["passed"]) == (port["received"], stats["downlink"]["received"])
        assert up["received"] == stats["uplink"]["transmitted"] + stats["checks"]["status_sent"]
        assert up["passed"] - up["tx_full"] == port["transmitted"]
        return down, up

    def peer_checks(self) -> dict:
        """What the UE side's own sequence numbers say."""
        return self.ues[0].control.stats()["checks"]


def predicted(seed: int, direction: int, percent: float, length: float) -> list[int]:
    """Numbers of the frames that a direction (0 downlink, 1 uplink) loses, by a model that shares no code with it."""
    return [n for n, lost in enumerate(islice(losses(seed, direction, percent, length), COUNT), 1) if lost]


@pytest.mark.parametrize("seed", [7, 8])
def test_the_losses_are_those_of_the_seed_and_the_ue_receives_the_rest(folder, seed):
    air = {
        "seed": seed,
        "downlink": {"loss_percent": 10},
        "uplink": {"loss_percent": 10, "burst_length": 3},
    }
    with AirBed(folder, f"loss{seed}", air) as bed:
        lost_down, lost_up = predicted(seed, 0, 10, 1), predicted(seed, 1, 10, 3)
        assert 10 < len(lost_down) < 60 and lost_down != lost_up
        bed.send("server", "ue")
        bed.send("ue", "server")
        came_down = bed.arrived("ue", COUNT - len(lost_down))
        came_up = bed.arrived("server", COUNT - len(lost_up))
        # Exactly these, so in each run with this seed.
        assert came_down == [n for n in range(1, COUNT + 1) if n not in lost_down]
        assert came_up == [n for n in range(1, COUNT + 1) if n not in lost_up]
        for way, lost in zip(bed.settled(COUNT, COUNT), (lost_down, lost_up), strict=True):
            assert (way["lost"], way["passed"]) == (len(lost), COUNT - len(lost))
            assert way["burst_lost"] == sum(after - before == 1 for before, after in pairwise(lost))
        assert bed.peer_checks()["pdcp_missing"] == sum(n < came_down[-1] for n in lost_down)
        (bearer,) = bed.bearers()
        assert bearer["downlink"]["transmitted"] == COUNT
        assert bearer["uplink"]["transmitted"] == COUNT - len(lost_up)
        bed.finish()


def test_duplicates_and_overtaking_are_seen_by_the_receivers(folder):
    air = {
        "seed": 3,
        "downlink": {"duplicate_percent": 20, "delay_us": 30000, "reorder_percent": 20},
        "uplink": {"delay_us": 5000, "jitter_us": 20000.5},
    }
    with AirBed(folder, "dupe", air) as bed:
        bed.send("server", "ue")
        bed.send("ue", "server")
        came_down, came_up = bed.arrived("ue", COUNT), bed.arrived("server", COUNT)
        down, up = bed.settled(COUNT, COUNT)
        assert down["duplicated"] > 20 and down["lost"] == down["air_full"] == 0
        assert down["passed"] == COUNT + down["duplicated"]
        checks = bed.peer_checks()
        assert checks["pdcp_duplicates"] == down["duplicated"]  # dropped by PDCP, so that each number comes once
        assert sorted(came_down) == sorted(came_up) == list(range(1, COUNT + 1))
        assert checks["pdcp_late"] > 20 and down["overtook"] > 20 and down["delayed"] > 200
        assert sum(any(n > later for later in came_up[i + 1 :]) for i, n in enumerate(came_up)) == up["overtook"] > 20
        assert up["delayed"] == COUNT
        bed.finish()


def test_what_is_in_the_air_at_the_end_is_accounted_for(folder):
    with AirBed(folder, "end", {"uplink": {"delay_us": 1e7, "loss_percent": 20}, "capacity": 20}) as bed:
        bed.send("ue", "server", 50)
        wait_until("50 frames", lambda: bed.ues[0].control.stats()["air"]["uplink"]["received"] == 50)
        up = bed.ues[0].control.stats()["air"]["uplink"]
        assert up["held"] == 20 and up["air_full"] > 0 and up["balanced"]
        assert up["held"] + up["lost"] + up["air_full"] == 50
        last = bed.ues[0].finish()  # exit code 0: it adds up
        assert (last["air"]["uplink"]["passed"], last["air"]["uplink"]["held"]) == (20, 0)
        assert len(bed.arrived("server", 20)) == 20


def test_ctl_changes_the_air_while_it_runs(folder):
    with AirBed(folder, "set", {}) as bed:
        bed.send("server", "ue", 20)
        assert len(bed.arrived("ue", 20)) == 20
        ctl = [splitplane(), "ctl", "--config", bed.ues[0].config]
        shown = run([*ctl, "air", "set", "--downlink-loss", 100, "--uplink-delay-us", 500]).stdout
        assert "loss_percent" in shown and "500" in shown
        bed.send("server", "ue", 20)
        bed.send("ue", "server", 20)
        down, up = bed.settled(40, 20)
        assert (down["lost"], down["passed"], up["delayed"], up["passed"]) == (20, 20, 20, 20)
        assert down["impairments"]["loss_percent"] == 100
        control = bed.ues[0].control
        assert control.call("air.set", downlink={"loss_percent": 0})["uplink"]["delay_us"] == 500  # the rest stays
        bed.send("server", "ue", 20)
        assert bed.arrived("ue", 20) == list(range(1, 21))
        for wrong, says in (
            ({"downlink": {"loss_percent": 101}}, "allowed is a number from 0 to 100"),
            ({"downlink": {"reorder_percent": 5}}, "nothing to overtake"),
            ({"sidelink": {}}, "unknown"),
            ({"uplink": {"loss": 5}}, "unknown"),
        ):
            with pytest.raises(Failure, match=says):
                control.call("air.set", **wrong)
        with pytest.raises(Failure, match="with `splitplane ue`"):
            bed.gnb.control.call("air.set")
        bed.finish()


def test_without_an_air_there_is_none_to_change(folder):
    with AirBed(folder, "none", None) as bed:
        bed.send("server", "ue", 20)
        assert len(bed.arrived("ue", 20)) == 20
        assert bed.ues[0].control.stats()["air"] == {}
        with pytest.raises(Failure, match="allowed: with ue.air in its file"):
            bed.ues[0].control.call("air.set", downlink={"loss_percent": 5})
        bed.finish()
