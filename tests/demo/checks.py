"""The demo's verdicts: what must hold for the gNB's counters, between its neighbours' counters and its own, and in the
captures. Each check is one line of the summary."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Check:
    name: str
    measured: str
    passed: bool


@dataclass
class Checks:
    done: list[Check] = field(default_factory=list)

    def add(self, name: str, measured: object, passed: bool) -> bool:
        self.done.append(Check(name, str(measured), bool(passed)))
        return bool(passed)

    @property
    def passed(self) -> bool:
        return bool(self.done) and all(check.passed for check in self.done)


WAYS_OUT = ("transmitted", "dropped", "consumed", "held")


def adds_up(counters: dict) -> bool:
    """What a counter set lacks is 0: only frames for the gNB itself (ARP, Echo, RLC STATUS) are consumed."""
    return counters["received"] == sum(counters.get(way, 0) for way in WAYS_OUT)


def check_balance(checks: Checks, who: str, stats: dict):
    """received = transmitted + dropped + consumed + held over all workers, in the instance's own judgement and by our
    sum."""
    totals = stats["totals"]
    checks.add(
        f"{who}: received = {' + '.join(WAYS_OUT)}",
        f"{totals['received']} = {' + '.join(str(totals[way]) for way in WAYS_OUT)}",
        totals["balanced"] and adds_up(totals) and totals["received"] > 0,
    )


def check_workers(checks: Checks, who: str, stats: dict):
    """Of a running instance: each worker's counters add up. Those of several do not, being read one after another."""
    for worker in stats["workers"]:
        given = sum(worker.get(way, 0) for way in ("transmitted", "dropped", "consumed", "dispatched"))
        checks.add(
            f"{who}: worker {worker['name']}: received = transmitted + dropped + consumed + dispatched",
            f"{worker['received']} = {given}",
            worker["balanced"] and worker["received"] == given,
        )


def check_ports(checks: Checks, who: str, stats: dict):
    """Of a stopped instance: the driver of each port and our workers counted the same, and nothing went wrong there."""
    for port in stats["ports"]:
        pairs = [(port[way], port[f"workers_{way}"]) for way in ("received", "transmitted")]
        lost = {key: port[key] for key in ("rx_missed", "rx_errors", "tx_errors", "rx_no_mbuf") if port[key]}
        checks.add(
            f"{who}: port {port['name']}: driver and workers count the same",
            f"{pairs[0][0]} in, {pairs[1][0]} out"
            + "".join(f"; driver {one}, workers {other}" for one, other in pairs if one != other)
            + (f"; {lost}" if lost else ""),
            all(one == other for one, other in pairs) and not lost,
        )


def check_bearers(checks: Checks, who: str, bearers: list[dict]) -> dict[str, dict[str, int]]:
    """The same for both directions of every bearer; returns the sums."""
    wrong = [bearer["id"] for bearer in bearers for way in ("downlink", "uplink") if not adds_up(bearer[way])]
    checks.add(
        f"{who}: every bearer adds up, both directions",
        f"{len(bearers)} bearers" + (f", wrong: {wrong[:5]}" if wrong else ""),
        not wrong and bool(bearers),
    )
    return (
        {
            way: {key: sum(bearer[way][key] for bearer in bearers) for key in bearers[0][way]}
            for way in ("downlink", "uplink")
        }
        if bearers
        else {}
    )


def check_passed_on(checks: Checks, name: str, sent: int, received: int, allowed_loss: float):
    """The next one cannot receive more than was sent, and little may be lost between two sockets of the kernel."""
    lost = sent - received
    share = lost / sent if sent else 1.0
    checks.add(name, f"{sent} sent, {received} received, {lost} lost ({share:.2%})", 0 <= share <= allowed_loss)


def check_generated(checks: Checks, gen: dict, sink: dict, dropped: int, allowed_loss: float):
    """What does not come was dropped and counted by the gNB: a starved one on a busy machine finds the air full."""
    sent, came = gen["sent"], sink["unique"]
    checks.add(
        "gen and sink: each packet came or was dropped and counted, none doubled or reordered",
        f"{came} of {sent} came, {dropped} dropped by the gNB, {gen['refused']} refused by its port, "
        f"{sink['flows_seen']} bearers",
        came + dropped == sent > 0
        and dropped + gen["refused"] <= allowed_loss * sent
        and not any(sink[name] for name in ("duplicates", "reordered", "too_old")),
    )


def check_paths(checks: Checks, stats: dict):
    """The UPFs as the gNB's supervision sees them at the end; the first request may come before the UPF has started."""
    for peer in stats["peers"]:
        checks.add(
            f"gNB: UPF {peer['name']} answers Echo Requests",
            f"{peer['echo_answered']} answered, {peer['restarts']} restarts, path {peer['state']}",
            (peer["state"], peer["restarts"]) == ("up", 0),
        )


def check_upf(checks: Checks, stats: dict):
    """What the third-party peer found wrong with our GTP-U: nothing."""
    totals, kernel = stats["totals"], stats["kernel"]
    wrong = {
        key: totals[key]
        for key in (
            "not_gtp",
            "malformed",
            "unknown_messages",
            "unknown_teid",
            "ul_refused",
            "dl_send_errors",
            "error_indications_received",
            "extension_notifications",
        )
        if totals[key]
    }
    wrong |= {key: kernel[key] for key in ("udp4_in_csum_errors", "udp6_in_csum_errors") if kernel.get(key)}
    checks.add(
        "UPF: TEID, PSC, QFI, UE address, checksum of every uplink packet",
        f"{totals['ul_packets']} right" + (f", wrong: {wrong}" if wrong else ""),
        not wrong and totals["ul_packets"] > 0,
    )
    for address, peer in sorted(stats["peers"].items()):
        checks.add(
            f"UPF: gNB {address} answers Echo Requests",
            f"{peer['echo_received']} of {peer['echo_sent']}",
            peer["echo_received"] >= max(1, peer["echo_sent"] - 2),
        )  # one may be on its way, one before ARP
