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


def adds_up(counters: dict) -> bool:
    return counters["received"] == counters["transmitted"] + counters["dropped"] + counters["held"]


def check_balance(checks: Checks, who: str, stats: dict):
    """received = transmitted + dropped + held over all workers, in the instance's own judgement and by our sum."""
    totals = stats["totals"]
    checks.add(
        f"{who}: received = transmitted + dropped + held",
        f"{totals['received']} = {totals['transmitted']} + {totals['dropped']} + {totals['held']}",
        totals["balanced"] and adds_up(totals),
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
