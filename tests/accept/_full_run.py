"""A running gNB in full mode before judges that are not ours: real TCP, tshark, and readers written apart from it."""

from __future__ import annotations

from _judged_by_tests import Mended, judge
from report import Report

PATH = "tests/e2e/test_full_mode.py"
JUDGES = "tests/e2e/test_full_mode_judges.py"
PROMISES = [
    Mended(
        "full_real_tcp_with_5_percent_of_blocks_lost",
        shows="20 MB each way: SHA-256 equal; ping and iperf3 both ways; 1 % of the DCIs lost as well",
        pytest=[f"{PATH}::test_files_and_streams_pass_an_air_that_loses_blocks_and_dcis"],
    ),
    Mended(
        "full_second_reader_walks_every_block",
        shows="MAC, RLC, PDCP with NEA2 and NIA2, IP of each block of the mac-nr capture; counts equal the sender's",
        pytest=[f"{PATH}::test_a_second_reader_finds_every_packet_in_a_capture_of_the_air"],
    ),
    Mended(
        "full_one_tshark_call",
        shows="MAC, RLC reassembly, PDCP deciphering (NEA2, NIA0) to the inner IP: as many packets as were sent",
        pytest=[f"{JUDGES}::test_one_call_of_tshark_shows_the_packets_inside_the_transport_blocks"],
    ),
    Mended(
        "full_nfapi_of_a_run",
        shows="an independent decoder reads each P5 and P7 message between gNB and PHY, and judges its values",
        pytest=[f"{JUDGES}::test_an_independent_decoder_reads_every_nfapi_message_of_a_run"],
    ),
    Mended(
        "full_both_ends_killed",
        shows="kill -9 of PHY and gNB: both begin again, and files pass",
        pytest=[f"{PATH}::test_both_ends_may_be_killed_and_started_again"],
    ),
    Mended(
        "full_many_ues",
        shows="300 UEs behind one PHY, some with TUN and the rest sinks: every packet arrives",
        pytest=[f"{PATH}::test_the_packets_of_many_ues_reach_them_and_those_without_the_tun_device_count_theirs"],
    ),
]


def items(report: Report) -> None:
    for promise in PROMISES:
        judge(report, promise)
