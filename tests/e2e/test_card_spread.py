"""`spread` of a card: which VF gets what goes to the host. The host has a worker for each VF, and each has bearers.
Packets reach the worker of their bearer, whatever VF they take."""

from __future__ import annotations

import time

import configs
import gtpu
import pytest
from card_wires import (
    SERVER,
    CardWires,
    assert_numbered,
    by_bearer,
    gpdu_in,
    number_of,
    sdu,
    to_gnb,
    uplink,
)
from namespaces import N3Link
from processes import wait_until

LINK = N3Link()
VFS = 4
BEARERS = 8  # at the host, two in a shard of each worker
ROUNDS, IN_A_ROUND = 20, 10


def bed(name: str, spread: str, **card: int) -> CardWires:
    shards = [256 // VFS * (number // 2) + 1 for number in range(BEARERS)]
    bearers = [configs.bearer(number, upf=LINK.upf_ipv4, shard=shard) for number, shard in enumerate(shards)]
    bearers.append(configs.bearer(BEARERS, upf=LINK.upf_ipv4, shard=40, card="card0"))
    tree = configs.behind_a_card(name, bearers, VFS)
    return CardWires(name, tree, {"card0": configs.nic(name, VFS, spread=spread, **card)})


def vfs(made: CardWires, side: str) -> list[int]:
    """Frames that the card gave to each VF of that side."""
    rows = {row["name"]: row["out"] for row in made.cards["card0"].control.call("card.show")["ports"]}
    return [rows[f"vf-{side}/{queue}"] for queue in range(VFS)]


def came(made: CardWires) -> int:
    """Frames that the card has from both wires."""
    rows = {row["name"]: row["in"] for row in made.cards["card0"].control.call("card.show")["ports"]}
    return rows["n3"] + rows["air"]


def send(made: CardWires, bearers: list[dict], numbers: range):
    for bearer in bearers:
        made.n3[0].send(*(to_gnb(gtpu.gpdu(bearer["id"], sdu(n, bearer["ue_ipv4"]), 9)) for n in numbers))
        made.air[0].send(*(uplink(bearer, n, sdu(n, SERVER, bearer["ue_ipv4"])) for n in numbers))


def send_rounds(made: CardWires, bearers: list[dict]) -> int:
    """Returns how many of each bearer, and waits until the card has them."""
    for number in range(ROUNDS):
        send(made, bearers, range(number * IN_A_ROUND, (number + 1) * IN_A_ROUND))
        time.sleep(0.02)
    each = ROUNDS * IN_A_ROUND
    wait_until("the card to read them", lambda: came(made) == 2 * each * len(bearers))
    return each


@pytest.mark.parametrize("card", [{}, {"marks": 64}], ids=["", "with_marks"])
def test_in_turn_each_vf_has_an_even_share_and_every_packet_is_accounted_for(card):
    with bed(f"spt{len(card)}", "turn", **card) as made:
        each = send_rounds(made, list(made.bearers().values()))
        for side in ("n3", "air"):
            shares = vfs(made, side)
            assert sum(shares) == each * BEARERS, "the card served its own bearer"
            assert max(shares) - min(shares) <= 0.01 * sum(shares) / VFS, shares
        made.finish()


def test_in_turn_every_packet_finds_the_worker_of_its_bearer():
    with bed("sptall", "turn") as made:
        bearers = made.bearers()
        each = send_rounds(made, list(bearers.values()))
        wait_until(
            "the workers to have them",
            lambda: sum(w["received"] for w in made.gnb.control.stats()["workers"][:VFS]) >= 2 * each * BEARERS,
        )
        assert made.drops() == {}
        found = by_bearer(made.on_air(each * len(bearers)))
        assert found.keys() == bearers.keys()
        for pdus in found.values():
            assert_numbered(pdus)  # by its worker, in the order in which they came there
            assert sorted(number_of(pdu.inner()) for pdu in pdus) == list(range(each))
        messages = [gpdu_in(frame) for frame in made.on_n3(each * len(bearers))]
        for bearer in bearers.values():
            came = [number_of(message["payload"]) for message in messages if message["teid"] == bearer["ul_teid"]]
            assert sorted(came) == list(range(each))
        made.finish()


def test_by_hash_a_tunnel_keeps_its_vf_and_its_packets_their_order():
    with bed("sph", "hash") as made:
        bearers, sent, used = made.bearers(), 50, set()
        for key, bearer in bearers.items():
            before = {"came": came(made)} | {side: vfs(made, side) for side in ("n3", "air")}
            send(made, [bearer], range(sent))
            wait_until("the card to read them", lambda before=before: came(made) == before["came"] + 2 * sent)
            time.sleep(0.05)  # a worker drops at once what is not its own
            assert made.drops() == {}, f"of bearer {key:#x}"
            assert [number_of(pdu.inner()) for pdu in made.on_air(sent)] == list(range(sent))
            assert [number_of(gpdu_in(frame)["payload"]) for frame in made.on_n3(sent)] == list(range(sent))
            for side in ("n3", "air"):
                more = [after - count for after, count in zip(vfs(made, side), before[side], strict=True)]
                assert sorted(more) == [0] * (VFS - 1) + [0 if bearer.get("card") else sent], (hex(key), more)
                used |= {(side, queue) for queue, count in enumerate(more) if count}
        assert len({queue for side, queue in used if side == "n3"}) > 1
        assert made.drops() == {} and not made.quiet_on_air()
        made.finish()
