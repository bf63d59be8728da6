"""The mistakes in the section `cards` of a file for `splitplane run`, and in bearers on cards: a part of the table in
mistakes.py."""

# One mistake a row.
# ruff: noqa: E501
# fmt: off
from __future__ import annotations

from corpus import CARDS, edits

WRONG_CARDS = edits(
    CARDS,
    True,
    ("  card0:\n    control: /run/splitplane/corpus-nic.sock\n", "  >>card0:\n", "cards.card0.control", "is missing"),
    ("    control: /run/splitplane/corpus-nic.sock", '    >>control: ""', "cards.card0.control", "has 0 octets; allowed: a path of 1 to 107 octets"),
    ("    vfs: [vf-n3, vf-air, vf-copies]", "    >>vfs: []", "cards.card0.vfs", "is empty; allowed: the ports whose queues are the card's VFs"),
    ("    vfs: [vf-n3, vf-air, vf-copies]", "    >>vfs: vf-n3", "cards.card0.vfs", "allowed: a list"),
    ("    copies: vf-copies", "    >>copy: vf-copies", "cards.card0.copy", "unknown key; allowed: control, vfs, n3, air, copies, numa"),
    ("    numa: 1", "    >>numa: -1", "cards.card0.numa", "is -1; allowed: an integer from 0 to 1023"),
    ("  card0:\n    control: /run/splitplane/corpus-nic.sock\n    vfs: [vf-n3, vf-air, vf-copies]\n    n3: vf-n3\n",
     "  >>card0:\n    control: /run/splitplane/corpus-nic.sock\n    vfs: [vf-n3, vf-air, vf-copies]\n", "cards.card0.n3", "is missing"),
    ("  card0:\n", "  >>card 0:\n", "cards.card 0", "'card 0' is no name"),
    ("    card: card0", "    >>card: 5", "bearers[0].card", "is 5 (no text unless quoted); allowed: the name of a card"),
    ("  mode: ratio", "  >>mode: best", "placement.mode", "'best'"),
    ("  ratio: 40", "  >>ratio: 101", "placement.ratio", "is 101; allowed: an integer from 0 to 100"),
    ("  ratio: 40", "  >>ration: 40", "placement.ration", "unknown key, did you mean 'ratio'?"),
    ("  consolidate: true", "  >>consolidate: 1", "placement.consolidate", "allowed: true or false"),
    ("  consolidate_fill: 50", "  >>consolidate_fill: 0", "placement.consolidate_fill", "is 0; allowed: an integer from 1 to 99"),
    ("{on: host, upf: \"fd", "{>>at: host, upf: \"fd", "placement.pin[1].at", "unknown key; allowed: on, upf, ul_teid, count"),
    ("  pin:\n    - {on: card0,", "  pin:\n    - >>{", "placement.pin[0].on", "is missing"),
    ("ul_teid: 0x1001, count: 2}", "ul_teid: 0x1001, >>count: 0}", "placement.pin[0].count", "is 0; allowed: an integer from 1 to 67108864"),
    ("ul_teid: 0x1003}", ">>ul_teid: 0}", "placement.pin[2].ul_teid", "is 0; allowed: an integer from 1 to 4294967295"),
    ("{on: card0, upf: 10.100.0.2,", "{on: card0, >>upf: 10.100.0,", "placement.pin[0].upf", "'10.100.0' is no IP address; allowed: an address such as 10.0.0.1 or fd00::1"),
    (CARDS[CARDS.index("  pin:\n"):CARDS.index("bearers:\n")], "  >>pin: card0\n", "placement.pin", "allowed: a list"),
    ("    rx: vf-copies", "    rx: vf-copies\n    >>tx: vf-copies", "workers.c.tx", "does not belong to function copies"),
)

BETWEEN_PARTS_OF_CARDS = edits(
    CARDS,
    False,
    ("[vf-n3, vf-air, vf-copies]", "[vf-n3, >>vf-arr, vf-copies]", "cards.card0.vfs[1]", "there is no port 'vf-arr'; allowed: vf-n3, vf-air, vf-copies, n3b, airb"),
    ("vfs: [n3b, airb]", "vfs: [n3b, >>vf-air]", "cards.card1.vfs[1]", "port vf-air is named twice; allowed: each port once"),
    ("    copies: vf-copies", "    >>copies: airb", "cards.card0.copies", "'airb' is no VF of the card; allowed: vf-n3, vf-air, vf-copies"),
    ("    n3: vf-n3\n    air: vf-air\n    copies", "    >>n3: vf-air\n    air: vf-air\n    copies", "cards.card0.n3", "port vf-air is not in the section n3"),
    ("    copies: vf-copies", "    >>copies: vf-air", "cards.card0.copies", "port vf-air has packets of its own"),
    ("vf-air.sock,queues=2\", rx_queues: 2, tx_queues: 2}", "vf-air.sock,queues=2\", rx_queues: 2, >>tx_queues: 1}", "ports.vf-air.tx_queues", "is 1, and rx_queues is 2; allowed: as many"),
    ("card1: {control: /run/splitplane/corpus-nic1.sock", "card1: {>>control: /run/splitplane/corpus-nic.sock", "cards.card1.control", "/run/splitplane/corpus-nic.sock is another card's; allowed: a socket of its own"),
    ("    card: card0\n    shard: 150", "    >>card: card2\n    shard: 150", "bearers[0].card", "there is no card 'card2'; allowed: card0, card1"),
    ("    card: card0\n    shard: 150", "    >>card: card0\n    shard: 201", "bearers[0].card", "worker w2 would own some of them, and is not behind card card0"),
    ("    card: card0", "    rlc: um12\n    >>card: card0", "bearers[0].card", "rlc is um12, which a card does not serve; allowed: am12, am18"),
    ("    card: card0", "    require_psc: true\n    >>card: card0", "bearers[0].card", "with require_psc, which a card does not have"),
    ("    card: card0", "    n3_reorder: {}\n    >>card: card0", "bearers[0].card", "with n3_reorder, which a card does not have"),
    ("{on: card0,", "{>>on: card2,", "placement.pin[0].on", "there is no card 'card2'; allowed: host, card0, card1"),
    ("0x1003}", "4294967295, >>count: 2}", "placement.pin[2].ul_teid", "with count 2 it runs past the last value"),
    ("    - {on: host, upf: 10.100.0.2, ul_teid: 0x1003}", "    - {on: host, upf: 10.100.0.2, >>ul_teid: 0x1002}", "placement.pin[2].ul_teid", "names bearer 0x1002 at 10.100.0.2 again, after placement.pin[0]; allowed: each bearer once"),
    ("queue: 1, shards: 100-199}", ">>queue: 2, shards: 100-199}", "workers.w1.queue", "is 2, but port vf-n3 has 2 receive queue(s); allowed: 0 to 1"),
    ("queue: 1, shards: 100-199}", "queue: 1, shards: 100-199, >>features: headers}", "workers.w1.features", "looks for no bearers, and would not know those of card card0"),
)
