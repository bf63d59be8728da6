"""Real TCP over a tagged N3 with a card in front of the gNB: bearers on the card and at the host, both directions."""

from __future__ import annotations

import configs
from card_bed import CardBed
from gtpu_bed import LINK
from paths import own
from tagger import Tagger

VLAN = 100
FILE_BYTES = 1_000_000


class VlanCardBed(CardBed):
    def prepare_network(self):
        self.tagger = self.stack.enter_context(Tagger(self.network, LINK, VLAN))


def test_tcp_passes_a_tagged_n3_by_card_and_host():
    folder = own("e2e") / "vlan-tcp"
    folder.mkdir(parents=True, exist_ok=True)
    bearers = [configs.bearer(1, upf=LINK.upf_ipv4, card="card0"), configs.bearer(2, upf=LINK.upf_ipv4)]
    tree = configs.behind_a_card("vlt", bearers)
    tree["n3"][0]["vlan"] = VLAN
    with VlanCardBed(folder, "vlt", tree) as bed:
        bed.wait_for_neighbours()
        file = bed.web.make("vlan.bin", FILE_BYTES)
        for bearer in bed.bearers():
            for address in (bearer["ue_ipv4"], bearer["ue_ipv6"]):
                assert bed.web.download(address, file).equal and bed.web.upload(address, file).equal, bearer
        bed.wait_for_the_last_packets()
        bed.assert_accounted()
        served = {b["id"]: b["on_card"]["installed"] for b in bed.on_card()}
        assert len(served) == 1 and all(served.values())
        on_card = bed.on_card()[0]
        assert on_card["downlink"]["transmitted"] == on_card["pdcp_tx_next"] > 2 * FILE_BYTES // 1500
        assert bed.tagger.wrong == 0
        assert min(bed.tagger.tagged.values()) > 4 * FILE_BYTES // 1500
        card = bed.finish()["cards"][0]
        assert not card["punts"].get("not_for_us") and not card["punts"].get("vlan_depth")
