"""Full mode: RLC that segments, MAC, and nFAPI to an emulated PHY that loses transport blocks. Real TCP goes through
it, and a second reader of the air (tests/oracle/full_mode) deciphers and verifies what crossed it."""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path

import yaml
from checks import Checks, check_balance, check_bearers, check_upf
from instance import Instance
from namespaces import AirLink, Network
from paths import CONFIG, OUT, ROOT
from processes import Processes, run, undisturbed, wait_until
from secured import write_keys
from traffic import Web, iperf
from ue import configure_ue
from upf import SERVER_IPV4, Upf, tunnels_of

HEAD = ("transfer", "Mbit/s", "blocks down", "lost", "blocks up", "lost", "SHA-256")
GNB, PHY = "full-mode.yaml", "full-mode-phy.yaml"
WIRE = AirLink("gnb-phy", "ue-phy", "10.103.0.1", "10.103.0.2")
INNER_MTU = 1400
FILE_BYTES = 10_000_000
CAPTURE_MB = 3


class FullPath:
    """gNB, PHY with UEs, UPF and server in namespaces, by the shipped files. `phy` and `ue` change keys of those
    sections, `gnb` those of the gNB's file. `prefix`: instances and keys that no other run has."""

    def __init__(
        self,
        folder: Path,
        name: str,
        phy: dict | None = None,
        *,
        ue: dict | None = None,
        gnb: dict | None = None,
        prefix: str = "",
    ):
        self.folder = folder
        self.network = Network(name, air=(WIRE,))
        self.processes = Processes(folder)
        self.stack = ExitStack()
        gnb_tree, phy_tree = (yaml.safe_load((CONFIG / file).read_text()) for file in (GNB, PHY))
        gnb_tree |= gnb or {}
        phy_tree["phy"] |= phy or {}
        phy_tree["ue"] |= ue or {}
        if prefix:
            keys = str(folder / "full.keys")
            gnb_tree |= {"file_prefix": prefix, "key_file": keys}
            phy_tree["file_prefix"] = f"{prefix}-phy"
            phy_tree["ue"] |= {"gnb_control": f"/run/splitplane/{prefix}.sock", "key_file": keys}
        self.keys = Path(gnb_tree["key_file"])
        self.bearer_count = sum(group.get("count", 1) for group in gnb_tree["bearers"])  # each has keys of its own
        self.gnb_config, self.phy_config = (self._write(*one) for one in ((GNB, gnb_tree), (PHY, phy_tree)))

    def _write(self, name: str, tree: dict) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / name
        path.write_text(yaml.safe_dump(tree))
        return path

    def __enter__(self) -> FullPath:
        with self.stack:
            self.stack.enter_context(self.network)
            self.stack.callback(self._stop)
            write_keys(self.keys, list(range(1, self.bearer_count + 1)))
            self.start_gnb()
            self.start_phy()
            self.bearers = self.gnb.control.bearers()
            self.upf = Upf(
                self.network, self.processes, self.folder, tunnels_of(self.bearers, self.network.n3), INNER_MTU
            )
            self.configure_ues()
            self.web = Web(self.network, self.processes, self.folder)
            wait_until(
                "the gNB to answer the UPF's Echo Requests",
                lambda: any(peer["echo_received"] for peer in self.upf.stats()["peers"].values()),
                processes=[self.upf.process, self.gnb.process, self.phy.process],
            )
            self.wait_for_air()
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def _stop(self):
        with undisturbed():
            self.processes.stop_all()
        self.keys.unlink(missing_ok=True)

    def start_gnb(self, *, fresh: bool = True):
        self.gnb = Instance(self.processes, "full-gnb", "run", self.gnb_config, self.network.gnb, fresh=fresh)

    def start_phy(self):
        self.phy = Instance(self.processes, "full-phy", "phy", self.phy_config, self.network.ue)

    def configure_ues(self):
        """The TUN device of a PHY that has just been started."""
        tun_ues = yaml.safe_load(self.phy_config.read_text())["ue"].get("tun_ues", len(self.bearers))
        configure_ue(self.network, self.phy, self.bearers[:tun_ues], INNER_MTU)

    def wait_for_air(self):
        """Until the PHY counts slots, and the UEs have their C-RNTIs."""
        wait_until(
            "the PHY to run",
            lambda: self.gnb.control.call("phy.show")[0]["state"] == "running",
            processes=[self.gnb.process, self.phy.process],
        )
        wait_until("the UEs to follow the gNB", self._follows, processes=[self.gnb.process, self.phy.process])

    def _follows(self) -> bool:
        places = [
            {bearer["id"]: bearer["rlc_full"]["rnti"] for bearer in end.control.bearers()}
            for end in (self.gnb, self.phy)
        ]
        return places[0] == places[1]

    def air(self) -> dict[str, int]:
        return self.phy.control.stats()["air"]

    def set_loss(self, percent: float, dci: float = 0):
        loss = {"loss_percent": percent}
        self.phy.control.call("air.set", downlink=loss, uplink=loss, dci_loss_percent=dci)

    def ping(self, source: str, *, count: int = 10, downlink: bool = False) -> int:
        """Echo requests from the UE at `source` to the server, or the other way; returns how many were answered.
        `rtt` has the time of the way there and back then, in words."""
        where, own, other = (
            (self.network.core, SERVER_IPV4, source) if downlink else (self.network.ue, source, SERVER_IPV4)
        )
        command = ["ping", "-q", "-n", "-I", own, "-c", count, "-i", 0.02, "-W", 5, other]
        done = run(command, netns=where, check=False, timeout=count + 30)
        line = next((line for line in done.stdout.splitlines() if "transmitted" in line), "")
        times = next(
            (line.split("=")[1].split()[0].split("/") for line in done.stdout.splitlines() if "rtt" in line), []
        )
        self.rtt = f"{times[1]} ms, {times[0]} to {times[2]}" if times else "no answer"
        return int(line.split(",")[1].split()[0]) if line else 0

    def finish(self, checks: Checks) -> tuple[dict, dict]:
        """Ends both, in this order, and holds their last counters; returns gNB's and PHY's."""
        bearers = self.gnb.control.bearers()
        upf = self.upf.stats()
        self.before = self.folder / "full-bearers.json"
        self.before.write_text(json.dumps({"bearers": bearers}))
        phy, gnb = self.phy.finish(), self.gnb.finish()
        check_bearers(checks, "full mode, gNB", bearers)
        for who, stats in (("full mode, gNB", gnb), ("full mode, PHY and UEs", phy)):
            check_balance(checks, who, stats)
        check_upf(checks, upf)
        return gnb, phy


def read_air(capture: Path, bearers: list[Path], keys: Path) -> dict:
    """What the second reader finds in a capture of transport blocks, as its Report.to_json() has it."""
    reader = [sys.executable, ROOT / "tests" / "oracle" / "full_mode", capture, "--keys", keys, "--json"]
    done = run([*reader, *(word for one in bearers for word in ("--bearers", one))], check=False)
    return json.loads(done.stdout)


def full_mode(say, checks: Checks) -> list[list[object]]:
    """A file each way and a stream over an air that loses blocks; rows for HEAD."""
    capture = OUT / "air-mac.pcapng"
    settings = {"capture": {"file": str(capture), "max_mb": CAPTURE_MB}}
    say(f"splitplane run config/{GNB} and phy config/{PHY}: full mode over nFAPI, with a file of new keys")
    with FullPath(OUT / "log", "full", settings) as path:
        loss = path.air()["loss"]["downlink"]["loss_percent"]
        ue = path.bearers[0]["ue_ipv4"]
        both = [path.ping(ue), path.ping(ue, downlink=True)]
        said = f"{both[0]} and {both[1]} of 10 answered, round trip {path.rtt}"
        checks.add("full mode: ping both ways", said, both == [10, 10])
        shutil.copy(path.keys, OUT / "air-mac.keys")  # for those who look further; the next run has others
        first = OUT / "air-mac-bearers.json"
        first.write_text(json.dumps({"bearers": path.gnb.control.bearers()}))
        say(f"curl: 10 MB each way over RLC AM with NEA2 and NIA2; the air loses {loss:g} % of the blocks")
        file = path.web.make("full.bin", FILE_BYTES)
        rows = [
            transfer(path, checks, name, lambda way=way: way(ue, file))
            for name, way in (("10 MB to the UE", path.web.download), ("10 MB from the UE", path.web.upload))
        ]
        say("iperf3: TCP to the UE for 1 s")
        before = path.air()
        mbit = iperf(path.network, path.processes, ue, downlink=True, seconds=1, name="full")
        rows.append(["iperf3 TCP to the UE", f"{mbit:.0f}", *blocks(before, path.air()), "-"])
        _, phy = path.finish(checks)
        say(f"a second reader deciphers and verifies the blocks in out/{capture.name}")
        judged = read_air(capture, [first], path.keys)
    hold_harq(checks, phy["air"])
    hold_capture(checks, phy["capture"], judged)
    return rows


def transfer(path: FullPath, checks: Checks, name: str, send) -> list[object]:
    before = path.air()
    done = send()
    checks.add(f"full mode: SHA-256 equal, {name}", f"{done.bytes} octets", done.equal and done.bytes == FILE_BYTES)
    return [f"curl {name}", f"{done.mbit:.0f}", *blocks(before, path.air()), "equal" if done.equal else "DIFFERENT"]


def blocks(before: dict, after: dict) -> list[int]:
    """Transport blocks that crossed the air meanwhile, and how many were lost: down, up."""
    names = (("dl_decoded", "dl_lost"), ("ul_decoded", "ul_lost"))
    return [sum(after[n] - before[n] for n in some) for way in names for some in (way, way[1:])]


def hold_harq(checks: Checks, air: dict):
    down, up = (air[f"{way}_decoded"] + air[f"{way}_lost"] for way in ("dl", "ul"))
    checks.add(
        "full mode: the air lost blocks of both directions",
        f"{air['dl_lost']} of {down} down, {air['ul_lost']} of {up} up",
        min(air["dl_lost"] / down, air["ul_lost"] / up) > 0.02,
    )


def hold_capture(checks: Checks, counted: dict, judged: dict):
    down, up = (
        sum(row.get("ip_packets", 0) for row in judged["bearers"] if row["direction"] == way)
        for way in ("downlink", "uplink")
    )
    checks.add(
        "full mode: MAC, RLC, PDCP of the captured blocks, by another reader",
        f"{counted['blocks']} blocks, {down} packets down, {up} up, faults: {judged['faults'] or 'none'}",
        min(counted["blocks"], down, up) > 500 and not judged["faults"],
    )
