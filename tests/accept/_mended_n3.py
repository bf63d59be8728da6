"""N3 in one VLAN, and strangers on it: forged Error Indications, ARP and ND claims, packets of other addresses."""

from __future__ import annotations

from _judged_by_tests import Mended, judge
from report import Report

STRANGERS = "tests/e2e/test_n3_strangers.py"

ITEMS = [
    Mended(
        "a7_vlan",
        "a tagged N3 half worked: ARP was answered untagged, uplink left untagged",
        gtest="N3Vlan.*",
        pytest=["tests/e2e/test_n3_vlan.py"],
    ),
    Mended(
        "b2_path_state",
        "down: no Echo Response, where ARP was not answered and no Echo was ever sent",
        gtest="PathSupervisor.*",
        pytest=[f"{STRANGERS}::test_an_unanswered_arp_is_called_so_in_peer_list_log_and_metrics"],
    ),
    Mended(
        "d4_error_indication",
        "one forged Error Indication stopped a bearer's uplink for good; a sweep stopped all in a second",
        gtest="UplinkCheck.*:N3Source.*:Punts.*",
        pytest=[
            f"{STRANGERS}::test_one_forged_error_indication_costs_no_packet",
            f"{STRANGERS}::test_forged_error_indications_without_end_stop_an_uplink_for_a_second_and_it_resumes_by_itself",
            f"{STRANGERS}::test_a_upf_that_lost_the_tunnel_stops_it_and_gets_it_back_by_itself",
            f"{STRANGERS}::test_packets_of_a_bearer_come_from_its_upf_only",
            f"{STRANGERS}::test_with_any_source_they_come_from_everywhere",
            f"{STRANGERS}::test_a_sweep_of_4096_teids_does_not_stop_the_bearers",
        ],
    ),
    Mended(
        "d5_e4_neighbors",
        "one ARP frame caused 31 s of outage, one reply sent all uplink to ff:ff:ff:ff:ff:ff",
        gtest="NeighborTable.*:Neighbor.*",
        pytest=[
            f"{STRANGERS}::test_forged_claims_of_the_upfs_address_change_nothing",
            f"{STRANGERS}::test_a_upf_that_moved_is_followed_within_a_second",
        ],
    ),
]


def items(report: Report) -> None:
    for item in ITEMS:
        judge(report, item)
