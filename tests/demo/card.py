"""The card in front of the gNB: started between the wires and the gNB's VFs, and its counters held against each other
and against the bearers'."""

from __future__ import annotations

import copy
import ipaddress
import re
from pathlib import Path

import yaml
from checks import Checks
from instance import Instance
from paths import splitplane
from processes import run, wait_until


def can_live_there(bearer: dict) -> bool:
    """The static rule of src/card/protocol/servable.h: AM, a UPF with an IPv4 address, nothing that needs the host."""
    host_only = ("dl_teid", "require_psc", "n3_reorder")
    return (
        bearer.get("rlc", "am18").startswith("am")
        and ":" not in bearer["upf"]
        and not any(bearer.get(key) for key in host_only)
    )


def with_share(tree: dict, percent: int, card: str = "card0") -> dict:
    """The same configuration with so much of its bearers on the card, of those that can be there, and the rest on the
    host."""
    tree, groups = copy.deepcopy(tree), []
    for group in tree["bearers"]:
        for number in range(group.get("count", 1)):
            bearer = {key: value for key, value in group.items() if key not in ("count", "card")}
            bearer["ul_teid"] += number
            for key in ("ue_ipv4", "ue_ipv6"):
                if key in bearer:
                    bearer[key] = _plus(bearer[key], number)
            groups.append(bearer)
    able = [bearer for bearer in groups if can_live_there(bearer)]
    for number, bearer in enumerate(able):
        if (number + 1) * percent // 100 > number * percent // 100:  # spread over the list
            bearer["card"] = card
    return tree | {"bearers": groups}


def _plus(address: str, number: int) -> str:
    return str(ipaddress.ip_address(address) + number)


def write_with_share(source: Path, percent: int | None, target: Path) -> Path:
    """The configuration itself without a share."""
    if percent is None:
        return source
    target.write_text(yaml.safe_dump(with_share(yaml.safe_load(source.read_text()), percent), sort_keys=False))
    return target


def card_state(gnb: Instance, name: str = "card0") -> dict:
    return next(card for card in gnb.control.stats()["cards"] if card["name"] == name)


def wait_for_card(gnb: Instance, card: Instance, name: str = "card0"):
    """Until the gNB has installed everything on it."""

    def ready() -> bool:
        state = card_state(gnb, name)
        return state["state"] == "up" and state["waiting"] == 0

    wait_until("the gNB to fill the card", ready, processes=[gnb.process, card.process])


def check_card(checks: Checks, stats: dict, drops: tuple[str, ...] = ()):
    """Of a card that has stopped: its counters add up, and nothing was lost but at full queues and by `drops`."""
    card = stats["cards"][0]
    ports = card["ports"]
    totals = card["totals"]
    made = totals["received"] + totals["clones"]
    gone = sum(totals[way] for way in ("transmitted", "dropped", "consumed", "held"))
    checks.add(
        "card: received + clones = transmitted + dropped + consumed + held",
        f"{totals['received']} + {totals['clones']} = "
        + " + ".join(str(totals[way]) for way in ("transmitted", "dropped", "consumed", "held")),
        totals["balanced"] and made == gone and totals["received"] > 0,
    )
    checks.add("card: nothing left in it", f"{totals['held']} held", totals["held"] == 0)
    checks.add(
        "card: the ports' counters are the sum",
        f"{sum(port['in'] for port in ports)} in, {sum(port['out'] + port['clones'] for port in ports)} out",
        sum(port["in"] for port in ports) == totals["received"],
    )
    lost = {reason: count for reason, count in card["drops"].items() if count and reason not in drops}
    full = f"{card['tx_full']} at full queues"
    checks.add("card: dropped at full queues only", f"{full}, {lost or 'nothing'} else", not lost)


def served_by(card: Instance) -> int:
    """Packets of its bearers, both ways, as a running card counts them itself: what the host read for it and returned
    among them. Exact when the traffic has stopped."""
    served, after = 0, 0
    while rows := card.control.call("card.numbers", after=after):
        served += sum(row[4] + row[5] for row in rows)
        after = rows[-1][0]
    return served


def check_card_and_host(checks: Checks, card: dict, host: dict, served: int, bearers: list[dict]):
    """Of both when they have stopped: each frame that the card got from the wires, or back from the host for a number,
    was served, passed up or dropped, once; and what it passed up is what the host received."""
    card = card["cards"][0]
    wires, vfs = card["ports"][:2], card["ports"][2:]
    came, up, dropped = sum(port["in"] for port in wires), sum(port["out"] for port in vfs), sum(card["drops"].values())
    returned = sum(worker.get("returned", 0) for worker in host["workers"])
    punted, control = sum(card["punts"].values()), card["rlc_control"]
    on_card = sum(bool(bearer.get("card")) for bearer in bearers)
    checks.add(
        "card: from the wires + returned = served + passed up + dropped",
        f"{came} + {returned} = {served} + {up} + {dropped}; {on_card} of {len(bearers)} bearers served there; passed "
        f"up: {punted} unreadable or of no bearer, {control} RLC control, else of the host's bearers",
        came + returned == served + up + dropped and bool(on_card) == (served > 0) and punted + control <= up,
    )
    given = sum(port["out"] + port["clones"] - port["tx_full"] for port in vfs)
    got = sum(port["received"] for port in host["ports"])
    checks.add("gNB: received what the card gave its VFs, clones included", f"{got} of {given}", got == given)


def card_rows(stats: dict) -> list[list[object]]:
    """A row a port for the summary."""
    card = stats["cards"][0]
    return [[port["name"], port["in"], port["out"], port["clones"], port["tx_full"]] for port in card["ports"]]


CARD_HEAD = ("port", "in", "out", "clones", "queue full")


def meanings_of_punts() -> dict[str, str]:
    """What each reason means, as `splitplane metrics` says it."""
    page = run([splitplane(), "metrics", "--markdown"]).stdout
    section = page.split("packets that a card gave to the host")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", section, re.MULTILINE))


def punt_rows(stats: dict) -> list[list[object]]:
    meanings = meanings_of_punts()
    punts = sorted(stats["cards"][0]["punts"].items(), key=lambda row: -row[1])
    return [[reason, count, meanings[reason]] for reason, count in punts]
