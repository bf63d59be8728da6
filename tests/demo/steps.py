"""The demo's transfers: files and streams by TCP between the UE and the server, timed and compared."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from checks import Checks
from instance import Instance
from namespaces import Network
from processes import Processes, wait_until
from traffic import Transfer, Web, iperf

LOSSY_BYTES = 5_000_000
LOSS_PERCENT = 5
SMALL_BYTES = 100_000


class Results(Protocol):
    """What the steps measured, for the summary."""

    transfers: list[tuple[str, Transfer]]
    streams: list[tuple[str, float]]


def transfer(say, results: Results, checks: Checks, name: str, send, ue: str, file: Path):
    """One file by curl, timed and compared."""
    say(f"curl: {name}")
    done = send(ue, file)
    results.transfers.append((name, done))
    checks.add(
        f"SHA-256 equal: {name}",
        f"{done.bytes} octets in {done.seconds:.2f} s",
        done.equal and done.bytes == file.stat().st_size,
    )


def small_files(say, web: Web, bearers: list[dict], checks: Checks):
    """A file through every bearer, so that the captures hold every RLC mode and SN length."""
    say(f"curl: a small file through each of {len(bearers)} bearers, IPv4 and IPv6, both directions")
    file = web.make("small.bin", SMALL_BYTES)
    right = 0
    for bearer in bearers:
        for ue in (bearer["ue_ipv4"], bearer["ue_ipv6"]):
            right += web.download(ue, file).equal + web.upload(ue, file).equal
    checks.add("SHA-256 equal: small files", f"{right} of {4 * len(bearers)}", right == 4 * len(bearers))


def over_a_bad_air(
    say, web: Web, gnb: Instance, ue: Instance, bearer: dict, results: Results, checks: Checks, service=None, where=""
):
    """A file each way while the air loses PDUs: RLC AM sends them again, and TCP never learns. The buffering service is
    killed in the middle of the first file and started again."""
    ends = [("gNB", gnb), ("UE", ue)]

    def counters() -> list[dict]:
        return [end.control.call("bearer.show", id=bearer["id"])["rlc_am"] for _, end in ends]

    def without_clone() -> int:
        """SDUs that the card sent while its VF was full. A worker's own window counts them as acknowledged all the
        same; the buffering service, which gives copies back, does not."""
        stats = gnb.control.stats()
        return sum(worker["card_copies_lost"] for worker in stats["workers"]) if stats["baas"] else 0

    def air(loss: float):
        ue.control.call("air.set", downlink={"loss_percent": loss}, uplink={"loss_percent": loss})

    file = web.make("over-a-bad-air.bin", LOSSY_BYTES)
    # From here on only this bearer has packets, so the clones that are lost are its clones.
    at_first = [end["tx_next"] - end["acked"] - end["unacked"] for end in counters()]
    lost_at_first = without_clone()
    air(LOSS_PERCENT)
    for name, send in (("to the UE", web.download), ("from the UE", web.upload)):
        words = f"5 MB {name}, {where}the air loses {LOSS_PERCENT} %"
        with ThreadPoolExecutor(1) as pool:
            # Not the kill: children of a thread end with it.
            done = pool.submit(transfer, say, results, checks, words, send, bearer["ue_ipv4"], file)
            if service and name == "to the UE":
                time.sleep(0.15)
                say("kill -9 of `splitplane baas` in the middle of it, and another one")
                service.kill_and_start()
            done.result()
    air(0)
    wait_until("RLC to have everything acknowledged", lambda: not any(end["unacked"] for end in counters()))
    lost = [at_first[0] + without_clone() - lost_at_first, at_first[1]]
    for (name, _), missing, sender, receiver in zip(ends, lost, counters(), reversed(counters()), strict=True):
        kept = f"{sender['acked']} SDUs" + (f" and {missing} whose clone found the VF full" if missing else "")
        checks.add(
            f"RLC AM, {where}{name} as sender: every SDU acknowledged and delivered once",
            f"{kept}, {sender['retransmitted']} PDUs sent again, window: {sender['window']}",
            sender["acked"] + missing == sender["tx_next"] == receiver["delivered"] and sender["retransmitted"] > 20,
        )


def while_it_moves(say, web: Web, gnb: Instance, bearer: dict, results: Results, checks: Checks):
    """A file through a bearer that moves between its card and the host all the time: TCP never learns."""
    home = bearer["card"]
    file = web.make("while-it-moves.bin", LOSSY_BYTES)
    epoch = gnb.control.call("bearer.show", id=bearer["id"])["rlc_am"]["epoch"]
    moves, longest, stayed = 0, 0, []
    words = f"5 MB to the UE, its bearer moves between {home} and host"
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(transfer, say, results, checks, words, web.download, bearer["ue_ipv4"], file)
        while moves < 2 or moves % 2 or not done.done():
            to = "host" if moves % 2 == 0 else home
            answer = gnb.control.call("place.move", ids=[bearer["id"]], to=to)
            stayed += [one["why"] for one in answer["stayed"]]
            if stayed:
                break
            moves, longest = moves + 1, max(longest, answer["longest_hold_us"])
        done.result()

    def shown() -> dict:
        return gnb.control.call("bearer.show", id=bearer["id"])["rlc_am"]

    wait_until("RLC to have everything acknowledged", lambda: not shown()["unacked"])
    after = shown()["epoch"]
    results.moves = f"{moves} moves of a bearer under TCP, packets waited for {longest / 1000:.1f} ms at most"
    checks.add(
        "bearers: one moved between card and host in the middle of a file, and its numbers went on",
        "; ".join(stayed) or results.moves,
        not stayed and moves >= 2 and after == epoch,
    )


def stream(say, network: Network, processes: Processes, bearer: dict, results: Results, checks: Checks):
    for name, downlink, seconds in (("to the UE", True, 2), ("from the UE", False, 2)):
        say(f"iperf3: TCP {name} for {seconds} s")
        mbit = iperf(
            network, processes, bearer["ue_ipv4"], downlink=downlink, seconds=seconds, name=name.replace(" ", "-")
        )
        results.streams.append((name, mbit))
        checks.add(f"iperf3 TCP {name}", f"{mbit:.0f} Mbit/s", mbit > 1)
