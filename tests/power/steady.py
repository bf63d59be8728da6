"""What a policy does on the simulated core once it has settled: `splitplane power replay` twice, for a while and for
longer, with the same arrivals. The shorter run is the beginning of the longer one, so its times come off."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from paths import splitplane
from processes import run

SETTLE_S = 3.0  # twelve steps down of 100 ms each, and what `budget` learns in its first second
TIMEOUT_S = 1200


@dataclass(frozen=True)
class Steady:
    """One policy. Times, watts and shares are of the time after SETTLE_S; delays and packets are of the whole run."""

    policy: str
    seconds: float
    watts: float  # modelled, of one core, by the prices of the replay
    active: float  # of a core
    residency: dict[str, float]
    p_states: list[float]
    sleeps: float  # a second
    p99: float  # us that waiting, polls and a slow clock added to a packet
    most: float
    arrived: int
    lost: int


def arrivals(rate: float, burst: int = 1) -> list[str]:
    """A burst of one packet is a packet by chance."""
    words = ["--rate", f"{rate:.10g}", "--arrivals"]
    return [*words, "poisson"] if burst == 1 else [*words, "bursts", "--burst-packets", str(burst)]


def steady(options: Sequence[str], policies: Sequence[str], seconds: float) -> list[Steady]:
    """`seconds` of simulated time after the settling."""
    chosen = [word for policy in policies for word in ("--policy", policy)]
    short = _replay([*options, *chosen], SETTLE_S)
    long = _replay([*options, *chosen], SETTLE_S + seconds)
    return [rest(*both) for both in zip(short, long, strict=True)]


def rest(short: dict, long: dict) -> Steady:
    """`long` without its beginning, which is `short`."""
    begin, end = short["simulated_s"], long["simulated_s"]

    def mean(early: float, late: float) -> float:
        return max(0.0, (late * end - early * begin) / (end - begin))

    pairs = zip(short["p_states"], long["p_states"], strict=True)
    return Steady(
        policy=long["policy"],
        seconds=end - begin,
        watts=mean(short["modelled"]["watts"], long["modelled"]["watts"]),
        active=mean(short["active"], long["active"]),
        residency={state: mean(short["residency"][state], share) for state, share in long["residency"].items()},
        p_states=[mean(early, late) for early, late in pairs],
        sleeps=(long["sleeps"] - short["sleeps"]) / (end - begin),
        p99=long["added_us"]["p99"],
        most=long["added_us"]["max"],
        arrived=long["arrived"],
        lost=long["lost"],
    )


def _replay(options: Sequence[str], seconds: float) -> list[dict]:
    command = [splitplane(), "power", "replay", "--json", *options, "--duration", f"{seconds:.10g}"]
    return json.loads(run(command, timeout=TIMEOUT_S).stdout)["policies"]
