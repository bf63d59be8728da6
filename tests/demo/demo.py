"""`make demo`: a gNB user plane with a card in front, between a UPF and a UE in network namespaces. Real TCP in both
directions, captures judged by tshark, then generated load of 64 K UEs, and a summary. Needs root; cleans up after
itself, also on Ctrl-C."""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import signal
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import load
import summary
from bypass import BYPASS_HEAD, host_bypass
from card import (
    CARD_HEAD,
    card_rows,
    check_card,
    check_card_and_host,
    punt_rows,
    served_by,
    wait_for_card,
    write_with_share,
)
from checks import (
    Checks,
    check_balance,
    check_bearers,
    check_generated,
    check_passed_on,
    check_paths,
    check_ports,
    check_upf,
)
from flooded import HEAD as GUARD_HEAD
from flooded import flooded
from full_path import HEAD as FULL_HEAD
from full_path import full_mode
from instance import Instance
from judge import CHECKSUMS, N3_FIELDS, PDCP, PDCP_FIELDS, RLC, RLC_FIELDS, judge, way
from namespaces import Network, interface_counters, require_root
from paths import CONFIG, OUT, splitplane, upf_peer
from policies import under_each_policy
from processes import Failure, Processes, run, undisturbed, wait_until
from secured import HEAD as SECURED_HEAD
from secured import secured_bearers
from service import Service, with_windows
from steps import over_a_bad_air, small_files, stream, transfer, while_it_moves
from traffic import Transfer, Web
from ue import configure_ue, tun_name
from upf import Upf, tunnels_of

FILE_BYTES = 10_000_000
INNER_MTU = 1400  # with N3 headers over IPv6 it fits a link of 1500 octets
LOAD_SECONDS = 4
TAP_OCTETS = 200
TAPS = {
    "n3": {"port": "n3"},
    "air-rlc": {"port": "air", "view": "rlc-nr"},
    "air-pdcp": {"port": "air", "view": "pdcp-nr"},
}
ALLOWED_LOSS = 0.005  # between two sockets of the kernel, on a machine that may be busy with other things


@dataclass
class Results:
    transfers: list[tuple[str, Transfer]] = field(default_factory=list)
    streams: list[tuple[str, float]] = field(default_factory=list)
    gnb: dict = field(default_factory=dict)
    card: dict = field(default_factory=dict)
    on_card: str = ""
    moves: str = ""
    load: dict = field(default_factory=dict)
    load_seconds: float = LOAD_SECONDS
    top: str = ""
    checked: dict = field(default_factory=dict)
    service: str = ""
    policies: list[list[object]] = field(default_factory=list)
    secured: list[list[object]] = field(default_factory=list)
    full: list[list[object]] = field(default_factory=list)
    bypass: list[list[object]] = field(default_factory=list)
    guard: list[list[object]] = field(default_factory=list)
    twice: int = 0  # PDUs of acknowledged bearers that an end received once more
    drops: list[list[object]] = field(default_factory=list)

    def load_mpps(self) -> float:
        return sum(worker["transmitted"] for worker in self.load["workers"]) / self.load_seconds * 1e-6

    def load_share(self) -> float:
        """Percent of a core that the workers' threads had meanwhile."""
        cycles = sum(worker["cpu_cycles"] for worker in self.load["workers"])
        return 100 * cycles / (self.load["tsc_hz"] * self.load_seconds)

    def key_line(self, checks: Checks) -> str:
        """What to remember of this run."""
        parts = (
            [
                f"{self.load_mpps():.2f} Mpps shown with 65,536 bearers on {self.load_share():.0f} % of a core "
                "(`make bench` measures)"
            ]
            if self.load
            else []
        )
        parts += [self.on_card] if self.on_card else []
        parts += [self.moves] if self.moves else []
        parts += [f"{row[1]} through a SYN flood with {row[0]}" for row in self.guard]
        parts += [f"TCP {name} {mbit:.0f} Mbit/s" for name, mbit in self.streams]
        right = sum(check.passed for check in checks.done)
        return ", ".join([*parts, f"{right} of {len(checks.done)} checks passed"])


def real_traffic(say, results: Results, checks: Checks, share: int | None):
    """UPF peer, card, gNB, UE; files, streams; then the counters of all four against each other."""
    with Network() as network:
        processes = Processes(OUT / "log")
        try:
            config = write_with_share(CONFIG / "demo.yaml", share, OUT / "demo-share.yaml")
            config = with_windows(say, config, OUT / "demo-inline.yaml")
            say(f"splitplane run {config.relative_to(OUT.parent)} in the gNB's namespace")
            gnb = Instance(processes, "gnb", "run", config, network.gnb)
            say("splitplane card config/nic-demo.yaml: a P4 card between the wires and the gNB")
            card = Instance(processes, "nic", "card", CONFIG / "nic-demo.yaml", network.gnb)
            wait_for_card(gnb, card)
            service = None
            if gnb.control.stats()["baas"]:
                say("splitplane baas config/demo.yaml: the windows of acknowledged bearers, in a process of their own")
                service = Service(processes, gnb, network.gnb)
            bearers = gnb.control.bearers()
            on_card = [bearer for bearer in bearers if bearer.get("card")]
            results.on_card = f"{len(on_card)} of {len(bearers)} bearers on the card"
            say(f"splitplane ue config/ue-demo.yaml; UPF peer (go-gtp) with {len(bearers)} tunnels")
            ue = Instance(processes, "ue", "ue", CONFIG / "ue-demo.yaml", network.ue)
            configure_ue(network, ue, bearers, INNER_MTU)
            upf = Upf(network, processes, OUT / "log", tunnels_of(bearers, network.n3), INNER_MTU)
            wait_until(
                "the gNB to answer the UPF's Echo Requests",
                lambda: any(peer["echo_received"] for peer in upf.stats()["peers"].values()),
                processes=[upf.process, gnb.process, ue.process],
            )
            say("splitplane ctl tap on: N3, and the air as Wireshark reads it, into out/*.pcapng")
            for name, settings in TAPS.items():
                gnb.control.call("tap.on", name=name, file=str(OUT / f"{name}.pcapng"), snap=TAP_OCTETS, **settings)
            web = Web(network, processes, OUT / "log")
            small_files(say, web, bearers, checks)
            file = web.make("demo.bin", FILE_BYTES)
            reachable = [bearer for bearer in bearers if ":" not in bearer["upf"]]
            first = next((bearer for bearer in reachable if not bearer.get("card")), reachable[0])
            sixth = next(bearer for bearer in bearers if ":" in bearer["upf"])
            transfer(say, results, checks, "10 MB to the UE", web.download, first["ue_ipv4"], file)
            transfer(say, results, checks, "10 MB from the UE", web.upload, first["ue_ipv4"], file)
            taps = [gnb.control.call("tap.off", name=name)["tap"] for name in TAPS]
            checks.add(
                "taps are complete",
                ", ".join(f"{tap['name']} {tap['packets']} packets, {tap['dropped']} lost" for tap in taps),
                all(tap["state"] == "off" and tap["packets"] and not tap["dropped"] for tap in taps),
            )
            transfer(say, results, checks, "10 MB to the UE, IPv6 in IPv6", web.download, sixth["ue_ipv6"], file)
            if on_card:
                there = on_card[0]["ue_ipv4"]
                transfer(say, results, checks, "10 MB to the UE, served by the card", web.download, there, file)
                transfer(say, results, checks, "10 MB from the UE, served by the card", web.upload, there, file)
            if first.get("acknowledged"):
                over_a_bad_air(say, web, gnb, ue, first, results, checks, service)
            if on_card and on_card[0].get("acknowledged"):
                over_a_bad_air(say, web, gnb, ue, on_card[0], results, checks, None, "served by the card, ")
                while_it_moves(say, web, gnb, on_card[0], results, checks)
            results.service = service.check(checks) if service else ""
            results.policies = under_each_policy(say, web, gnb, first, checks)
            stream(say, network, processes, first, results, checks)
            time.sleep(0.3)  # the last packets are on their way
            account(network, upf, card, gnb, ue, results, checks)
        finally:
            with undisturbed():
                processes.stop_all()


def account(network: Network, upf: Upf, card: Instance, gnb: Instance, ue: Instance, results: Results, checks: Checks):
    """Ends UE side, card and gNB, in this order, and holds their last counters against each other's and the
    kernel's."""
    peer, bearers = upf.stats(), gnb.control.bearers()
    tun = interface_counters(network.ue, tun_name(ue.config))
    ue_stats = ue.finish()
    served = served_by(card)
    results.card, results.gnb = card.finish(), gnb.finish()
    results.drops += summary.drop_rows("card", results.card) + summary.drop_rows("gNB", results.gnb)
    results.drops += summary.drop_rows("UE", ue_stats)
    sums = check_bearers(checks, "gNB", bearers)
    for who, stats in (("gNB", results.gnb), ("UE", ue_stats)):
        check_balance(checks, who, stats)
        check_ports(checks, who, stats)
    check_card(checks, results.card)
    check_card_and_host(checks, results.card, results.gnb, served, bearers)
    check_ports(checks, "card", results.card)
    check_upf(checks, peer)
    check_paths(checks, results.gnb)
    down, up = sums["downlink"], sums["uplink"]
    moved = sum(done.bytes for name, done in results.transfers if "card" not in name)  # which counts no octets
    checks.add(
        "gNB: the bearers' octets hold the files",
        f"{down['bytes'] + up['bytes']} of at least {moved}",
        down["bytes"] + up["bytes"] >= moved,
    )
    # What RLC sent again although it had arrived: a machine that stalls for longer than t-PollRetransmit sees some.
    twice = sum(worker["drops"].get("rlc_duplicate", 0) for worker in results.gnb["workers"])
    results.twice = twice + sum(bearer["rlc_duplicates"] for bearer in ue_stats["bearer_counters"])
    sent, arrived = peer["totals"]["dl_packets"], peer["totals"]["ul_packets"]
    check_passed_on(checks, "UPF to gNB, downlink packets", sent, down["received"], ALLOWED_LOSS)
    check_passed_on(checks, "gNB to UPF, uplink packets", up["transmitted"], arrived, ALLOWED_LOSS)
    check_passed_on(checks, "gNB to the UE's TUN, packets", down["transmitted"], tun["rx_packets"], ALLOWED_LOSS)
    check_passed_on(
        checks, "UE to gNB, uplink packets", ue_stats["uplink"]["transmitted"], up["received"] - twice, ALLOWED_LOSS
    )


def judge_captures(say, results: Results, checks: Checks):
    say("tshark judges what the taps wrote: " + ", ".join(f"out/{name}.pcapng" for name in TAPS))
    with ThreadPoolExecutor(2) as pool:
        jobs = {
            "N3: GTP-U": pool.submit(judge, OUT / "n3.pcapng", N3_FIELDS, CHECKSUMS),
            "air: RLC": pool.submit(judge, OUT / "air-rlc.pcapng", RLC_FIELDS, RLC),
            "air: PDCP, SDAP": pool.submit(judge, OUT / "air-pdcp.pcapng", PDCP_FIELDS, PDCP),
        }
        for name, job in jobs.items():
            verdict = job.result()
            ways = Counter(map(way, verdict.rows))
            again = sum(n for complaint, n in verdict.complaints.items() if "repeated" in complaint)
            wrong = sum(verdict.complaints.values()) - again
            checks.add(
                f"tshark, {name}",
                f"{ways['down']} down, {ways['up']} up; {verdict}" + (" (sent again by RLC)" if again else ""),
                not wrong and again <= results.twice and min(ways["down"], ways["up"]) > 1000,
            )


def generated_load(say, results: Results, checks: Checks):
    config = CONFIG / "load-64k.yaml"
    say("writing out/load.pcap: a packet for each of 65,536 bearers, in random order")
    packets = load.write(config, OUT / "load.pcap")
    say(f"splitplane run config/load-64k.yaml: {packets} bearers, 128-octet packets, {LOAD_SECONDS} s")
    processes = Processes(OUT / "log")
    try:
        gnb = Instance(processes, "load", "run", config)
        begin, before = time.monotonic(), gnb.control.stats()
        time.sleep(LOAD_SECONDS - 1)
        results.top = run([splitplane(), "top", config, "--once"]).stdout
        results.load = summary.between(before, gnb.control.stats())
        results.load_seconds = time.monotonic() - begin
        reached = sum(bearer["downlink"]["transmitted"] > 0 for bearer in gnb.control.bearers())
        last = gnb.finish()
    finally:
        with undisturbed():
            processes.stop_all()
    checks.add("load: bearers reached", f"{reached} of {packets}", reached == packets)
    results.drops += summary.drop_rows("load", last)
    check_balance(checks, "load", last)
    check_ports(checks, "load", last)
    totals = last["totals"]
    checks.add(
        "load: packets through the gNB",
        f"{totals['transmitted']} sent, {totals['dropped']} dropped",
        totals["transmitted"] > packets and totals["dropped"] == 0,
    )


def checked_load(say, results: Results, checks: Checks):
    """A gNB and, in a process of its own, a generator of its 64 K bearers' downlink with a sink on the air."""
    config, found = CONFIG / "traffic-64k.yaml", OUT / "gen-downlink.json"
    found.unlink(missing_ok=True)
    processes = Processes(OUT / "log")
    try:
        say("splitplane run config/traffic-64k.yaml: 65,536 bearers between two memif ports")
        gnb = Instance(processes, "traffic", "run", config)
        say("splitplane gen config/gen-downlink.yaml: 100,000 packets a second (Poisson) for 5 s, checked on the air")
        command = [splitplane(), "gen", CONFIG / "gen-downlink.yaml", "--json", found]
        code = processes.start("gen", command).wait(60)
        last = gnb.finish()
    finally:
        with undisturbed():
            processes.stop_all()
    if code != 0 or not found.exists():
        raise Failure(f"splitplane gen ended with exit code {code}; its log is in {OUT / 'log'}")
    results.checked = json.loads(found.read_text())
    results.drops += summary.drop_rows("checked load", last)
    check_balance(checks, "checked load", last)
    check_generated(checks, results.checked["gen"], results.checked["sink"], last["totals"]["dropped"], ALLOWED_LOSS)


def report(results: Results, checks: Checks):
    rows = [
        [f"curl {name}", f"{transfer.mbit:.0f}", "equal" if transfer.equal else "DIFFERENT"]
        for name, transfer in results.transfers
    ]
    rows += [[f"iperf3 TCP {name}", f"{mbit:.0f}", "-"] for name, mbit in results.streams]
    summary.table("TCP through the gNB", ("transfer", "Mbit/s", "SHA-256"), rows)
    if results.gnb:
        summary.table(
            "gNB behind the card during the TCP transfers (its wires are the kernel's sockets: they are the limit)",
            summary.STAGE_HEAD,
            summary.stage_rows(results.gnb),
        )
    if results.card:
        summary.table(
            f"The card during the same ({results.on_card})",
            CARD_HEAD,
            card_rows(results.card),
        )
        summary.table("Passed up by the card, and why", ("reason", "packets", "which means"), punt_rows(results.card))
    if results.service:
        print(f"\n{summary.paint('splitplane ctl baas, after the bad air and a kill -9', '1')}")
        print("".join(f"  {line}\n" for line in results.service.splitlines()), end="")
    if results.policies:
        summary.table(
            "The gNB's worker by power policy",
            ("policy", "awake when idle, %", "5 MB, Mbit/s", "SHA-256"),
            results.policies,
        )
    if results.secured:
        summary.table("Secured bearers: PDCP at both ends, keys from a file", SECURED_HEAD, results.secured)
    if results.full:
        summary.table(
            "Full mode: RLC AM with NEA2 and NIA2, MAC, nFAPI, and an air that loses 5 % of the transport blocks",
            FULL_HEAD,
            results.full,
        )
    if results.load:
        summary.table(
            f"gNB under generated load, 65,536 bearers, {results.load_seconds:.1f} s (pcap driver: it copies "
            "each packet)",
            summary.STAGE_HEAD,
            summary.stage_rows(results.load, results.load_seconds),
        )
    if results.top:
        print(f"\n{summary.paint('splitplane top config/load-64k.yaml --once, in the last second of it', '1')}")
        print("".join(f"  {line}\n" for line in results.top.splitlines()), end="")
    if results.checked:
        gen, sink = results.checked["gen"], results.checked["sink"]
        latency = [f"{sink['latency_ns'][name] / 1000:.0f}" for name in ("p50", "p90", "p99", "p99_9", "max")]
        summary.table(
            "Generated downlink of 65,536 bearers over memif, checked by the sink (latency in us)",
            ("packets", "Mpps", "late", "lost", "twice", "reordered", "p50", "p90", "p99", "p99.9", "max"),
            [
                [gen["sent"], f"{gen['rate'] / 1e6:.3f}", gen["late"], sink["lost"], sink["duplicates"]]
                + [sink["reordered"], *latency]
            ],
        )
    if results.bypass:
        summary.table("Host bypass on CPU threads, no GPU: 512-octet frames, soft NIC", BYPASS_HEAD, results.bypass)
    if results.guard:
        summary.table("A SYN flood, and people who connect meanwhile", GUARD_HEAD, results.guard)
    if results.drops:
        summary.table("Dropped, by reason", ("instance", "worker", "reason", "packets"), results.drops)
    summary.verdicts(checks)
    print(LOOK_FURTHER)
    print(f"\n{summary.paint('Result', '1')}: {results.key_line(checks)}")


LOOK_FURTHER = """
Look further (Wireshark takes the same options):
  tshark -r out/n3.pcapng -Y gtp
  tshark -r out/air-rlc.pcapng --enable-heuristic rlc_nr_udp
  tshark -r out/air-pdcp.pcapng --enable-heuristic pdcp_nr_udp -Y sdap
  tshark -r out/air-mac.pcapng --enable-heuristic mac_nr_udp
  .venv/bin/python tests/oracle/full_mode out/air-mac.pcapng --bearers out/air-mac-bearers.json --keys out/air-mac.keys
  build/release/splitplane explain out/n3.pcapng --config config/demo.yaml | less
  logs and counters of all programs: out/log/"""


def only_one() -> int:
    """Locks out/ for this process: a second demo would write over the captures and logs of the first."""
    folder = os.open(OUT, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as taken:
        raise Failure(f"another `make demo` of this folder is running, and both would write to {OUT}") from taken
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--card-share", type=int, choices=(0, 30, 70, 100), help="percent of the bearers on the card")
    share = parser.parse_args().card_share
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job begins with it ignored
    for number in (signal.SIGTERM, signal.SIGHUP):  # unwind like Ctrl-C, so that everything is removed
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    OUT.mkdir(exist_ok=True)
    say, results, checks = summary.Progress(), Results(), Checks()
    try:
        require_root()
        only_one()
        splitplane()
        upf_peer(say)
        real_traffic(say, results, checks, share)
        judge_captures(say, results, checks)
        results.secured = secured_bearers(say, checks)
        results.full = full_mode(say, checks)
        generated_load(say, results, checks)
        checked_load(say, results, checks)
        results.bypass = host_bypass(say, checks)
        results.guard = flooded(say, checks)
    except KeyboardInterrupt:
        print("\ninterrupted; namespaces and processes are removed", file=sys.stderr)
        return 130
    except Failure as failure:
        print(f"\ndemo failed: {failure}", file=sys.stderr)
        if checks.done:
            summary.verdicts(checks)
        return 1
    report(results, checks)
    say("done" if checks.passed else "done, with failed checks")
    return 0 if checks.passed else 1


if __name__ == "__main__":
    sys.exit(main())
