"""iperf3 through gNB and UE side over a bad air: Mbit/s by air and direction, as JSON in the file named."""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "demo")]

from test_rlc import AM18, BEARERS, RlcBed, configs  # noqa: E402
from traffic import iperf  # noqa: E402

AIRS = {
    "0_percent": {},
    "5_percent": {"loss_percent": 5},
    "20_percent": {"loss_percent": 20},
    "bursts": {"loss_percent": 10, "burst_length": 8},
}
SECONDS = 5


def main(path: Path) -> None:
    folder = path.parent / "rlc-rates"
    folder.mkdir(parents=True, exist_ok=True)
    tree = configs.one_worker("rlcrate", BEARERS)
    tree["workers"]["w0"]["baas"] = "inline"
    rates = {}
    with RlcBed(folder, "rlcrate", tree) as bed:
        bed.wait_for_neighbours()
        for air, values in AIRS.items():
            bed.set_air(**values)
            rates[air] = {
                way: iperf(
                    bed.network, bed.processes, AM18, downlink=way == "down", seconds=SECONDS, name=f"{way}-{air}"
                )
                for way in ("down", "up")
            }
            print(air, rates[air], flush=True)
            bed.settle()
            bed.assert_accounted_for()
    path.write_text(json.dumps(rates, indent=2) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
