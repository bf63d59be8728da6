"""Cores of the host and of the buffering service: our own cost per packet, scaled to the paper's machine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "out" / "bench.json"
MEASURED = Path(__file__).with_name("measured.yaml")
PAPER_GHZ = 2.2  # Xeon Silver 4114, P4 paper, section V.A
ROWS = {name: name for name in ("drop", "l2fwd", "decap", "headers", "clone")} | {"mat": "mat.65536"}


@dataclass(frozen=True)
class OwnCosts:
    """TSC cycles a packet of one core of ours, receive and transmit on net_null included."""

    gnb: dict[str, float]
    baas: float
    source: str


def own_costs(bench: Path = BENCH) -> OwnCosts:
    """From a valid run of `make bench`, else from measured.yaml."""
    measured = yaml.safe_load(MEASURED.read_text())
    cycles, source = measured["gnb"], "lab/model/measured.yaml"
    try:
        run = json.loads(bench.read_text())
        if run["valid"]:
            cycles = {row: run["rows"][row]["median"] for row in [*ROWS.values(), "l2fwd_on_null"]}
            source = f"{bench.name} of make bench; BaaS from lab/model/measured.yaml"
    except (OSError, ValueError, KeyError):
        pass  # no bench was run here, or it was cut off
    port = cycles["l2fwd_on_null"] - cycles["l2fwd"]
    # The row drop frees its packets, as the paper's step 0 does, and transmits none.
    gnb = {name: cycles[row] + (0 if name == "drop" else port) for name, row in ROWS.items()}
    return OwnCosts(gnb, measured["baas_ns"] * measured["tsc_hz"] / 1e9, source)


@dataclass(frozen=True)
class Host:
    """The paper's host. `scale`: cycles there for a cycle of ours; ours has no driver of a VF and no PCIe below it."""

    own: OwnCosts
    scale: float

    @classmethod
    def anchored(cls, own: OwnCosts, step: str, cores: int, mpps: float) -> Host:
        """The host whose `cores` do `mpps` of `step`: there it predicts nothing."""
        return cls(own, cores * PAPER_GHZ * 1e3 / mpps / own.gnb[step])

    def gnb_mpps(self, step: str, cores: int) -> float:
        """What the cores could serve if the card brought enough."""
        return cores * PAPER_GHZ * 1e3 / (self.own.gnb[step] * self.scale)

    def baas_mpps(self, cores: int) -> float:
        """By the ratio of the clocks alone: the service has rings to the gNB and no port."""
        return cores * PAPER_GHZ * 1e3 / self.own.baas
