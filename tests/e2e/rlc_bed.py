"""A testbed with an air that can be made bad, and what its acknowledged bearers of shards 1 and 2
must show afterwards."""

from __future__ import annotations

import time

import configs
from checks import Checks, check_workers
from processes import wait_until
from testbed import Testbed, assert_passed


class RlcBed(Testbed):
    def ue_tree(self, tree: dict) -> dict:
        tree["ue"]["air"] = {"seed": 7, "downlink": {}, "uplink": {}}
        return tree

    def set_air(self, **values: float):
        """The same in both directions; what is not named is 0."""
        names = ("loss_percent", "burst_length", "duplicate_percent", "delay_us", "jitter_us", "reorder_percent")
        way = {name: values.get(name, 1 if name == "burst_length" else 0) for name in names}
        self.ues[0].control.call("air.set", downlink=way, uplink=way)

    def am(self, shard: int) -> tuple[dict, dict]:
        """RLC counters of a bearer: the gNB's end, the UE's end."""
        return tuple(
            end.control.call("bearer.show", id=configs.identity(shard))["rlc_am"] for end in (self.gnb, self.ues[0])
        )

    def gave_up(self) -> int:
        """Radio link failures: of an SDU sent max_retx times, or, where the worker was late, of polls in vain."""
        worker = self.gnb.control.stats()["workers"][0]
        return worker["rlc_max_retx"] + worker["rlc_peer_lost"]

    def settle(self):
        """Waits until all that was sent is acknowledged, both ways."""
        self.set_air()

        wait_until("everything to be acknowledged", lambda: self.is_quiet((1, 2)))

    def is_quiet(self, shards: tuple[int, ...], seconds: float = 0.1) -> bool:
        """All that was sent is acknowledged, and nothing more comes for a moment: TCP may still say something."""

        def numbers() -> list[tuple[int, int, int]]:
            ends = [end for shard in shards for end in self.am(shard)]
            return [(end["unacked"], end["tx_next"], end["rx_next_highest"] - end["rx_next"]) for end in ends]

        before = numbers()
        if any(unacked or missing for unacked, _, missing in before):
            return False
        time.sleep(seconds)
        return numbers() == before

    def assert_right(self):
        """Both ends agree on what was sent and delivered; counters of workers and ports add up."""
        for shard in (1, 2):
            gnb, ue = self.am(shard)
            for sender, receiver in ((gnb, ue), (ue, gnb)):
                assert sender["acked"] == sender["tx_next"] == receiver["delivered"]
                assert receiver["rx_next"] == sender["tx_next"]
        self.assert_accounted_for()

    def assert_accounted_for(self):
        checks = Checks()
        for name, instance in (("gNB", self.gnb), ("UE", self.ues[0])):
            check_workers(checks, name, instance.control.stats())
        assert_passed(checks)
