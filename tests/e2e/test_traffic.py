"""Files through the whole path, both directions, both families; captures judged; nothing passes a stopped gNB."""

from __future__ import annotations

import time

import air_views
import configs
import pytest
from capture import Capture
from checks import Checks, check_balance, check_ports
from judge import CHECKSUMS, N3_FIELDS, PDCP, PDCP_FIELDS, RLC, RLC_FIELDS, gaps, judge, number
from namespaces import N3Link, interface_counters
from paths import own
from processes import Failure
from testbed import Testbed, assert_passed
from upf import SERVER_IPV4, SERVER_IPV6

FILE_BYTES = 20_000_000
SMALL_BYTES = 3_000_000
CAPTURED_BYTES = 1_000_000
LINK = N3Link()
BEARERS = [
    configs.bearer(1, upf=LINK.upf_ipv4, shard=1, qfi=9, rlc="am18", pdcp_sn=18),
    configs.bearer(2, upf=LINK.upf_ipv6, shard=2, qfi=5, rlc="am12", pdcp_sn=12),
]


@pytest.fixture(scope="module")
def bed():
    folder = own("e2e") / "traffic"
    folder.mkdir(parents=True, exist_ok=True)
    with Testbed(folder, "tr", configs.one_worker("tr", BEARERS)) as made:
        yield made


@pytest.mark.parametrize("address", ["ue_ipv4", "ue_ipv6"])
@pytest.mark.parametrize("index", [0, 1], ids=["n3_ipv4", "n3_ipv6"])
def test_a_file_arrives_equal_in_both_directions(bed, index, address):
    bearer = bed.bearers()[index]
    size = FILE_BYTES if (index, address) == (0, "ue_ipv4") else SMALL_BYTES
    before = {way: bearer[way]["bytes"] for way in ("downlink", "uplink")}
    file = bed.web.make(f"file-{index}-{address}", size)
    down, up = bed.web.download(bearer[address], file), bed.web.upload(bearer[address], file)
    assert (down.equal, down.bytes, up.equal, up.bytes) == (True, size, True, size)
    after = bed.bearers()[index]
    assert after["downlink"]["bytes"] - before["downlink"] >= size
    assert after["uplink"]["bytes"] - before["uplink"] >= size
    bed.assert_accounted()


def test_tshark_finds_nothing_wrong_and_every_field_right(bed):
    bearers = bed.bearers()
    captures = [
        Capture(bed.processes, bed.network.core, "upf-n3", bed.folder / "n3.pcapng", octets=0),
        Capture(bed.processes, bed.network.ue, "ue-air", bed.folder / "air.pcapng", octets=0),
    ]
    file = bed.web.make("captured", CAPTURED_BYTES)
    for bearer in bearers:
        for address in ("ue_ipv4", "ue_ipv6"):
            assert bed.web.download(bearer[address], file).equal
            assert bed.web.upload(bearer[address], file).equal
    assert [capture.stop() for capture in captures] == [0, 0]
    n3 = judge(bed.folder / "n3.pcapng", N3_FIELDS, CHECKSUMS)
    assert not n3.complaints, n3
    check_n3(n3.rows, bearers)
    rlc_path, pdcp_path, ues = air_views.translate(bed.folder / "air.pcapng", bed.folder)
    assert set(ues) == {bearer["id"] for bearer in bearers}
    rlc, pdcp = judge(rlc_path, RLC_FIELDS, RLC), judge(pdcp_path, PDCP_FIELDS, PDCP + CHECKSUMS)
    assert not rlc.complaints, rlc
    assert not pdcp.complaints, pdcp
    for bearer in bearers:
        check_air(rlc.rows, pdcp.rows, bearer, ues[bearer["id"]])


def check_n3(rows: list[dict], bearers: list[dict]):
    """Every G-PDU: TEID of a bearer, PSC type of its direction, its QFI, the UE's address on its side."""
    seen = {}
    expected = {}
    for b in bearers:
        expected[b["id"], "0"] = b
        expected[b["ul_teid"], "1"] = b
    for row in rows:
        if row["gtp.message"] != "0xff":
            continue
        key = number(row["gtp.teid"]), row["gtp.ext_hdr.pdu_ses_con.pdu_type"]
        bearer = expected[key]
        assert number(row["gtp.ext_hdr.pdu_ses_con.qos_flow_id"]) == bearer["qfi"]
        down = key[1] == "0"
        inner = {
            f"{row['ip.src'].split(';')[-1]}>{row['ip.dst'].split(';')[-1]}",
            f"{row['ipv6.src'].split(';')[-1]}>{row['ipv6.dst'].split(';')[-1]}",
        }
        pairs = [(bearer["ue_ipv4"], SERVER_IPV4), (bearer["ue_ipv6"], SERVER_IPV6)]
        assert inner & {f"{far}>{ue}" if down else f"{ue}>{far}" for ue, far in pairs}, row
        seen[key] = seen.get(key, 0) + 1
    assert len(seen) == 2 * len(bearers) and min(seen.values()) > 1000, seen


def check_air(rlc: list[dict], pdcp: list[dict], bearer: dict, ue: int):
    """Per direction: RLC AM numbers and PDCP numbers without a gap, the QFI in SDAP, the UE's address inside."""
    rlc_modulus, pdcp_modulus = (1 << (12 if bearer["rlc"] == "am12" else 18)), 1 << bearer["pdcp_sn"]
    for direction in ("0", "1"):
        data = [
            number(row["rlc-nr.am.sn"])
            for row in rlc
            if (row["rlc-nr.ueid"], row["rlc-nr.direction"], row["rlc-nr.am.dc"]) == (str(ue), direction, "1")
        ]
        mine = [row for row in pdcp if (row["pdcp-nr.ueid"], row["pdcp-nr.direction"]) == (str(ue), direction)]
        assert len(data) == len(mine) > 1000
        assert gaps(data, rlc_modulus) == 0
        assert gaps([number(row["pdcp-nr.seq-num"]) for row in mine], pdcp_modulus) == 0
        assert {row["sdap.qfi"] for row in mine} == {str(bearer["qfi"])}
        side = "dst" if direction == "1" else "src"
        assert all(
            bearer["ue_ipv4"] in row[f"ip.{side}"].split(";") or bearer["ue_ipv6"] == row[f"ipv6.{side}"]
            for row in mine
        )


def test_with_the_gnb_stopped_nothing_arrives(bed):
    """The last test of this file: it ends the gNB."""
    ue = bed.bearers()[0]["ue_ipv4"]
    file = bed.web.make("never", 100_000)
    assert bed.web.download(ue, file).equal
    bed.assert_accounted()
    check = Checks()
    stats = bed.gnb.finish()
    check_balance(check, "gNB", stats)
    check_ports(check, "gNB", stats)
    assert_passed(check)
    time.sleep(0.2)
    before = interface_counters(bed.network.ue, "splitue0")["rx_packets"], bed.upf.stats()["totals"]["ul_packets"]
    with pytest.raises(Failure, match="curl"):
        bed.web.download(ue, file, timeout=2)
    with pytest.raises(Failure, match="curl"):
        bed.web.upload(ue, file, timeout=2)
    assert not (bed.web.folder / "never.uploaded").exists()
    after = interface_counters(bed.network.ue, "splitue0")["rx_packets"], bed.upf.stats()["totals"]["ul_packets"]
    assert before == after
