"""The mistakes in a file for `splitplane card`: a part of the table in mistakes.py."""

# One mistake a row.
# ruff: noqa: E501
# fmt: off
from __future__ import annotations

from corpus import CARD, P4WIRE, RUN, edits


def missing(line: str, key: str) -> tuple[str, str, str, str]:
    """The file without that line of the card: the refusal names the line of `card`."""
    tail = CARD[CARD.index("card:\n"):]
    return (tail, ">>" + tail.replace(line, ""), key, "is missing")


def too_many_vfs() -> tuple[str, str, str, str]:
    tail = CARD[CARD.index('  vf-copies: {device: "net_virtio_user2'):]
    more = tail.replace('"net_virtio_user2,path=/run/vf-copies.sock"', '"eth_vhost0,iface=/run/c,queues=49", rx_queues: 49, tx_queues: 49')
    return (tail, more.replace("  vfs:", "  >>vfs:"), "card.vfs[2]", "makes 65 VFs with those before it; allowed: at most 64 a card")


WRONG_CARD = edits(
    CARD,
    True,
    ("  core: 3", "  >>corse: 3", "card.corse", "did you mean 'core'?"),
    ("  core: 3", "  >>cores: 3", "card.cores", "allowed: a list"),
    ("  core: 3", "  core: 3\n  >>cores: [3, 4]", "card.cores", "stands beside core; allowed: one of the two"),
    ("  core: 3", "  cores: [3, >>3]", "card.cores[1]", "is core 3 again; allowed: each core once"),
    ("  core: 3", "  cores: [3, >>1024]", "card.cores[1]", "is 1024; allowed: an integer from 0 to 1023"),
    ("  core: 3", "  >>cores: []", "card.cores", "has 0 cores; allowed: 1 to 16"),
    ("  core: 3", f"  >>cores: {list(range(17))}", "card.cores", "has 17 cores; allowed: 1 to 16"),
    ("  lookup: teid\n  marks: 32\n  spread: turn\n  specs: /opt/splitplane/p4\n  core: 3", "  lookup: ue_address\n  >>cores: [2, 3]", "card.cores", "has several cores, and lookup is ue_address; allowed: one core, or lookup: teid"),
    ("  features: clone\n  lookup: teid\n  marks: 32\n  spread: turn\n  specs: /opt/splitplane/p4\n  core: 3", "  features: headers\n  >>cores: [2, 3]", "card.cores", "has several cores, and features headers have one bearer for all packets"),
    ("card:\n", "lookup: teid>>\ncard:\n", "lookup", "does not belong in a file for `splitplane card`"),
    ("card:\n", "workers: {}>>\ncard:\n", "workers", "does not belong in a file for `splitplane card`"),
    ("  name: card1", "  >>name: 'a b'", "card.name", "is no name; allowed: 1 to 20 letters"),
    ("  program: gnb", "  >>program: gbn", "card.program", "did you mean 'gnb'?; allowed: gnb, l2fwd, p4wire"),
    ("card:\n  name: card1\n  program: gnb\n", ">>card:\n  name: card1\n", "card.program", "is missing"),
    ("  features: clone", "  >>features: l2fwd", "card.features", "allowed: drop, decap, headers, mat, clone_drop, clone"),
    ("  lookup: teid", "  >>lookup: imsi", "card.lookup", "allowed: teid, ue_address"),
    ("  features: clone\n  lookup: teid\n  marks: 32\n", "  features: mat\n  >>lookup: ue_address\n", "card.lookup", "is ue_address with other features than clone"),
    ("  marks: 32", "  >>marks: 65", "card.marks", "is 65; allowed: an integer from 0 to 64"),
    ("  features: clone\n  lookup: teid\n  marks", "  features: mat\n  lookup: teid\n  >>marks", "card.marks", "stands at a card of another kind; allowed: with features: clone and lookup: teid"),
    ("  spread: turn", "  >>spread: tunr", "card.spread", "'tunr' is unknown, did you mean 'turn'?; allowed: bearer, hash, turn"),
    ("  specs: /opt/splitplane/p4", "  >>specs: p4/generated", "card.specs", "is no such path; allowed: the path of a directory from / on"),
    ("  core: 3", "  >>core: -1", "card.core", "is -1; allowed: an integer from 0 to 1023"),
    ("  numa: 1", "  >>numa: 1024", "card.numa", "is 1024; allowed: an integer from 0 to 1023"),
    ("wait_ms: 5", ">>sleep_us: 5", "card.policy.sleep_us", "does not belong to policy l3fwd"),
    ("  schedule: fifo\n  fifo", "  >>fifo", "card.fifo_priority", "is not scheduled so; allowed: with schedule: fifo"),
    missing("  n3: n3\n", "card.n3"),
    missing("  air: air\n", "card.air"),
    missing("  vfs: [vf-n3, vf-air, vf-copies]\n", "card.vfs"),
    ("[vf-n3, vf-air, vf-copies]", ">>[]", "card.vfs", "is empty; allowed: the ports whose queues are the VFs, 1 to 64 in all"),
    ("[vf-n3, vf-air, vf-copies]", ">>vf-n3", "card.vfs", "allowed: a list"),
    ("  max_bearers: 1024", "  >>max_bearers: 65537", "card.max_bearers", "is 65537; allowed: an integer from 1 to 65536"),
    ("  verify_udp_checksum: true", "  >>verify_udp_checksum: 1", "card.verify_udp_checksum", "allowed: true or false"),
    ("  max_bearers: 1024", "  >>wire: {n3: spread}", "card.wire", "does not belong to program gnb"),
) + edits(
    P4WIRE,
    True,
    ("program: p4wire,", "program: p4wire, >>features: mat,", "card.features", "does not belong to program p4wire"),
    ("program: p4wire,", "program: p4wire, >>punt_n3: vfs,", "card.punt_n3", "does not belong to program p4wire"),
    ("card: {program: p4wire, n3: n3, air: air, vfs: [vfs], ", ">>card: {program: p4wire, n3: n3, air: air, ", "card.vfs", "is missing"),
    ("card: {program: p4wire, n3: n3, air: air, vfs: [vfs], wire: {n3: spread, air: 1, vfs: [n3, air]}}", ">>card: {program: p4wire, n3: n3, air: air, vfs: [vfs]}", "card.wire", "is missing"),
    ("wire: {n3: spread, air: 1, vfs: [n3, air]}", ">>wire: {}", "card.wire", "is empty; allowed: n3, air, vfs"),
    ("{n3: spread,", "{>>n3: all,", "card.wire.n3", "'all' is unknown; allowed: n3, air, spread"),
    ("air: 1, vfs", ">>air: 64, vfs", "card.wire.air", "is 64; allowed: an integer from 0 to 63"),
    ("[n3, air]", "[n3, >>spread]", "card.wire.vfs[1]", "'spread' is unknown; allowed: n3, air"),
    ("[n3, air]", ">>[]", "card.wire.vfs", "is empty; allowed: one target for all VFs, or one for each"),
) + edits(
    RUN,
    True,
    ("    numa: 1", "    >>numa: east", "workers.l.numa", "is the text 'east'; allowed: an integer from 0 to 1023"),
)

BETWEEN_PARTS_OF_CARD = edits(
    CARD,
    False,
    ("  features: clone\n  lookup: teid\n  marks: 32\n  spread", "  features: mat\n  lookup: teid\n  >>spread", "card.spread", "is turn at a card of another kind; allowed: bearer, or with features: clone and lookup: teid"),
    ("  lookup: teid\n  marks: 32\n  spread", "  lookup: ue_address\n  >>spread", "card.spread", "is turn at a card of another kind"),
    ('"net_virtio_user2,path=/run/vf-copies.sock"', '>>"net_virtio_user2,path=/run/vf-copies.sock,server=1"', "ports.vf-copies.device", "server=1: a card connects to its host, and connects again"),
    ("  n3: n3\n", "  >>n3: n4\n", "card.n3", "there is no port 'n4'; allowed: n3, air, vf-n3, vf-air, vf-copies"),
    ("  air: air\n", "  >>air: n3\n", "card.air", "port n3 is named twice"),
    ("[vf-n3, vf-air, vf-copies]", "[vf-n3, >>vf-n3, vf-copies]", "card.vfs[1]", "port vf-n3 is named twice"),
    ("[vf-n3, vf-air, vf-copies]", "[vf-n3, >>vf-ar, vf-copies]", "card.vfs[1]", "there is no port 'vf-ar'"),
    ("\n  vf-n3: {", "\n  >>spare: {device: net_null0}\n  vf-n3: {", "ports.spare", "is not used; allowed: the ports that card.n3,"),
    ("0000:3b:00.0\"", "0000:3b:00.0\", >>rx_queues: 2", "ports.n3.rx_queues", "is 2, and a card has one queue towards each side; allowed: 1"),
    ("vf-n3.sock,queues=8\", rx_queues: 8, tx_queues: 8", "vf-n3.sock,queues=8\", rx_queues: 8, >>tx_queues: 7", "ports.vf-n3.tx_queues", "is 7, and rx_queues is 8"),
    ("path=/run/vf-n3.sock,queues=8\", rx_queues: 8, tx_queues: 8", "path=/run/vf-n3.sock,queues=9\", >>rx_queues: 9, tx_queues: 9", "ports.vf-n3.device", "has 9 queues, and DPDK's virtio_user has at most 8"),
    too_many_vfs(),
    ("  punt_n3: vf-n3", "  >>punt_n3: n3", "card.punt_n3", "'n3' is no VF of the card; allowed: vf-n3, vf-air, vf-copies"),
    ("ports:\n  n3: {", ">>ports:\n" + "".join(f"  p{i}: {{device: net_null{i}}}\n" for i in range(30)) + "  n3: {", "ports", "has 35 ports, and this build of DPDK carries 32"),
    ("{megabytes: 600}", "{>>megabytes: 64}", "memory.megabytes", "the buffers of the card take"),
) + edits(
    P4WIRE,
    False,
    ("n3: n3, air: air, vfs: [vfs], wire: {n3: spread, air: 1, vfs: [n3, air]}", ">>vfs: [vfs], wire: {vfs: 0}", "card", "has no physical port; allowed: with n3, air or both"),
    ("air: 1, vfs", ">>air: 2, vfs", "card.wire.air", "there is no VF 2; allowed: 0 to 1"),
    ("[n3, air]", ">>[n3]", "card.wire.vfs", "has 1 target, and there are 2 VFs; allowed: one for all, which is no list, or 2"),
    ("[n3, air]", "[n3, n3, >>air]", "card.wire.vfs", "has 3 targets, and there are 2 VFs; allowed: one for all, or 2"),
    ("air: {device: net_null1}\n  vfs: {device: \"eth_vhost0,iface=/run/vf.sock,queues=2\", rx_queues: 2, tx_queues: 2}\ncard", "vfs: {device: \"eth_vhost0,iface=/run/vf.sock,queues=2\", rx_queues: 2, tx_queues: 2}\n>>card", "card.air", "there is no port 'air'"),
)
