"""The demo's secured bearers: NEA and NIA over UM and AM, real TCP through them, and tshark that deciphers the air."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import yaml
from checks import Checks, check_balance, check_workers
from instance import Instance
from judge import judge, way
from namespaces import N3Link, Network
from paths import CONFIG, OUT
from processes import Processes, undisturbed, wait_until
from traffic import Web, iperf
from ue import configure_ue
from upf import Flow, Tunnel, Upf, tunnels_of

HEAD = ("bearer", "RLC", "PDCP", "key", "PDUs down", "PDUs up", "came twice", "curl down, Mbit/s", "up", "SHA-256")
INNER_MTU = 1400
FILE_BYTES = 3_000_000
LOSS_PERCENT = 5
TAP = "air-secured"
NEW_KEY = 5
IPERF_PORT, IPERF_QFI = 5201, 5


def write_keys(path: Path, numbers: list[int]) -> dict[int, tuple[str, str]]:
    """New random keys, for ciphering and for integrity protection."""
    keys = {number: (secrets.token_hex(16), secrets.token_hex(16)) for number in numbers}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.writelines(f"{number} {cipher} {integrity}\n" for number, (cipher, integrity) in keys.items())
    return keys


def secured_bearers(say, checks: Checks) -> list[list[object]]:
    """A gNB and a UE side with a file of keys; rows for HEAD."""
    tree = yaml.safe_load((CONFIG / "secured.yaml").read_text())
    key_file = Path(tree["key_file"])
    keys = write_keys(key_file, list(range(1, NEW_KEY + 1)))
    with Network("secured") as network:
        processes = Processes(OUT / "log")
        try:
            say("splitplane run config/secured.yaml and ue config/ue-secured.yaml, with a file of new keys")
            gnb = Instance(processes, "secured", "run", CONFIG / "secured.yaml", network.gnb)
            ue = Instance(processes, "secured-ue", "ue", CONFIG / "ue-secured.yaml", network.ue)
            bearers = [bearer for bearer in gnb.control.bearers() if "session" not in bearer]
            (session,) = gnb.control.call("session.list")["sessions"]
            configure_ue(network, ue, [*bearers, session], INNER_MTU)
            tunnels = [*tunnels_of(bearers, network.n3), tunnel_of(session, network.n3[0])]
            upf = Upf(network, processes, OUT / "log", tunnels, INNER_MTU)
            wait_until(
                "the gNB to answer the UPF's Echo Requests",
                lambda: any(peer["echo_received"] for peer in upf.stats()["peers"].values()),
                processes=[upf.process, gnb.process, ue.process],
            )
            judged = next(bearer for bearer in bearers if bearer["rlc"].startswith("am"))
            file = OUT / f"{TAP}.pcapng"
            gnb.control.call("tap.on", name=TAP, port="air", view="pdcp-nr", file=str(file), bearer=judged["id"])
            web = Web(network, processes, OUT / "log")
            rows = [transfer(say, checks, web, gnb, ue, bearer) for bearer in bearers]
            tap = gnb.control.call("tap.off", name=TAP)["tap"]
            new_keys(say, checks, web, gnb, ue, bearers[0])
            two_flows(say, checks, network, processes, web, gnb, session)
            for who, end in (("gNB", gnb), ("UE", ue)):
                check_workers(checks, f"secured, {who}", end.control.stats())
            ue_stats, gnb_stats = ue.finish(), gnb.finish()
        finally:
            key_file.unlink(missing_ok=True)
            with undisturbed():
                processes.stop_all()
    for who, stats in (("secured, gNB", gnb_stats), ("secured, UE", ue_stats)):
        check_balance(checks, who, stats)
        wrong = {name: n for name, n in drops(stats).items() if name.startswith("pdcp_") and name != "pdcp_duplicate"}
        checks.add(f"{who}: each PDU deciphered, verified and in order", wrong or "no drop by PDCP", not wrong)
    say(f"tshark deciphers and verifies out/{TAP}.pcapng with the keys")
    deciphered(checks, file, tap, keys[judged["security"]["key"]], judged)
    return rows


def drops(stats: dict) -> dict[str, int]:
    return {name: n for worker in stats["workers"] for name, n in worker["drops"].items() if n}


def transfer(say, checks: Checks, web: Web, gnb: Instance, ue: Instance, bearer: dict) -> list[object]:
    """A file each way; what RLC can repair goes over an air that loses PDUs."""
    security, is_am = bearer["security"], bearer["rlc"].startswith("am")
    pdcp = f"{security['cipher']}, {security['integrity']}"
    loss = LOSS_PERCENT if is_am else 0
    say(f"curl: 3 MB each way, {bearer['rlc']} with {pdcp}" + (f", the air loses {loss} %" if loss else ""))
    ue.control.call("air.set", downlink={"loss_percent": loss}, uplink={"loss_percent": loss})
    file = web.make("secured.bin", FILE_BYTES)
    down, up = web.download(bearer["ue_ipv4"], file), web.upload(bearer["ue_ipv4"], file)
    ue.control.call("air.set", downlink={"loss_percent": 0}, uplink={"loss_percent": 0})
    equal = down.equal and up.equal and down.bytes == up.bytes == FILE_BYTES
    checks.add(f"secured: SHA-256 equal, {bearer['rlc']} with {pdcp}", f"{down.bytes} down, {up.bytes} up", equal)

    def ends() -> list[dict]:
        return [end.control.call("bearer.show", id=bearer["id"]) for end in (gnb, ue)]

    if is_am:
        wait_until("RLC to have everything acknowledged", lambda: not any(end["rlc_am"]["unacked"] for end in ends()))
    shown, other = ends()
    twice = sum(end["rlc_am"]["duplicates"] for end in (shown, other)) if is_am else 0
    counts = [shown["pdcp_tx_next"], other["pdcp_tx_next"]]
    return [
        f"{bearer['id']:#010x}",
        bearer["rlc"],
        pdcp,
        security["key"],
        *counts,
        twice,
        f"{down.mbit:.0f}",
        f"{up.mbit:.0f}",
        "equal" if equal else "DIFFERENT",
    ]


def new_keys(say, checks: Checks, web: Web, gnb: Instance, ue: Instance, bearer: dict):
    """A bearer that lives gets other keys, and its packets pass with them."""
    say(f"splitplane ctl bearer rekey {bearer['id']:#010x} --key {NEW_KEY}; then a small file each way")
    gnb.control.call("bearer.rekey", id=bearer["id"], security={"key": NEW_KEY})

    def key_at(end: Instance) -> int:
        return end.control.call("bearer.show", id=bearer["id"])["security"]["key"]

    wait_until("the UE side to have the new keys", lambda: key_at(ue) == NEW_KEY)
    file = web.make("rekeyed.bin", 200_000)
    down, up = web.download(bearer["ue_ipv4"], file), web.upload(bearer["ue_ipv4"], file)
    shown = gnb.control.call("bearer.show", id=bearer["id"])
    checks.add(
        "secured: new keys while the bearer lives",
        f"COUNTs from 0 to {shown['pdcp_tx_next'] - 1} with key {shown['security']['key']}",
        down.equal and up.equal and shown["security"]["key"] == NEW_KEY and 100 < shown["pdcp_tx_next"] < 1000,
    )


def tunnel_of(session: dict, link: N3Link) -> Tunnel:
    """The UPF's end of a session: iperf3 has a QoS flow of its own."""
    flows = (Flow(IPERF_PORT, IPERF_QFI),)
    address = session["ue_ipv4"]
    return Tunnel(session["id"], session["ul_teid"], link.gnb_ipv4, link.upf_ipv4, 9, ue_ipv4=address, flows=flows)


def two_flows(say, checks: Checks, network: Network, processes: Processes, web: Web, gnb: Instance, session: dict):
    """TCP on two QoS flows of one session, which have their own bearers with their own numbers."""
    ids = [bearer["id"] for bearer in session["bearers"]]

    def sent() -> list[int]:
        return [gnb.control.call("bearer.show", id=one)["downlink"]["transmitted"] for one in ids]

    say("one session with two bearers: curl on its default flow (AM), iperf3 for 1 s on QoS flow 5 (UM)")
    before = sent()
    equal = web.download(session["ue_ipv4"], web.make("session.bin", 1_000_000)).equal
    between = sent()
    mbit = iperf(network, processes, session["ue_ipv4"], downlink=True, seconds=1, name="session")
    after = sent()
    curl, stream = ([b - a for a, b in zip(*ends, strict=True)] for ends in ((before, between), (between, after)))
    checks.add(
        "secured: each QoS flow of a session takes its bearer",
        f"curl {curl[0]} and {curl[1]} PDUs, iperf3 {stream[0]} and {stream[1]} at {mbit:.0f} Mbit/s",
        equal and curl[0] > 500 and curl[1] == 0 and stream[1] > 500 and stream[0] < stream[1] / 10,
    )


def deciphered(checks: Checks, file: Path, tap: dict, pair: tuple[str, str], bearer: dict):
    """By tshark's own implementation of the algorithms: each MAC-I is right, and inside are the UE's packets."""
    cipher, integrity = pair
    options = [
        *("--enable-heuristic", "pdcp_nr_udp", "-o", "pdcp-nr.check_sequence_numbers:pdcp-only"),
        *("-o", f'uat:pdcp_nr_ue_keys:"1","","{cipher}","","{integrity}"', "-o", "pdcp-nr.decipher_userplane:TRUE"),
        *("-o", f"pdcp-nr.default_ciphering_algorithm:{bearer['security']['cipher']}"),
        *("-o", f"pdcp-nr.default_integrity_algorithm:{bearer['security']['integrity']}"),
    ]
    verdict = judge(file, ("pdcp-nr.direction", "ip.src", "ip.dst"), options)
    lossy = sum(n for text, n in verdict.complaints.items() if "repeated" in text or "missing" in text)
    clear = [row for row in verdict.rows if bearer["ue_ipv4"] in f"{row['ip.src']};{row['ip.dst']}".split(";")]
    ways = [sum(way(row) == name for row in clear) for name in ("down", "up")]
    wrong = sum(verdict.complaints.values()) - lossy
    checks.add(
        "tshark deciphers and verifies the secured AM bearer",
        f"{len(clear)} of {len(verdict.rows)} PDUs, {ways[0]} down, {ways[1]} up, {wrong} wrong, {lossy} out of order",
        not wrong and len(clear) == len(verdict.rows) == tap["packets"] and min(ways) > 500 and not tap["dropped"],
    )
