"""Grants of random cells as FAPI messages (slots_tool), read by a decoder and a model that were written apart.

SPLITPLANE_SLOTS (150) slots.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from slot_model import DMRS, format_0_0, format_1_0, rivs
from tb_size_model import MCS_TABLES

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "oracle"))
from nfapi_judge import OPEN, decode  # noqa: E402
from nfapi_judge.compare import datagrams  # noqa: E402

PROFILE = replace(OPEN, tx_tlv_length_bits=32)
Slot = tuple[dict[str, Any], dict[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def slots(tmp_path_factory: pytest.TempPathFactory) -> list[Slot]:
    """What was meant, and the messages by name."""
    tool = Path(os.environ.get("SPLITPLANE_BUILD", ROOT / "build" / "release")) / "tools" / "slots_tool"
    if not tool.exists():
        pytest.skip(f"SKIPPED: {tool} is not built (make build WHAT=all)")
    folder = tmp_path_factory.mktemp("slots")
    seed, count = os.environ.get("SPLITPLANE_SEED", "1"), os.environ.get("SPLITPLANE_SLOTS", "150")
    subprocess.run([tool, seed, count, folder / "octets", folder / "values"], check=True, timeout=120)
    octets = iter(datagrams((folder / "octets").read_bytes()))
    out = []
    for meant in json.loads((folder / "values").read_text()):
        messages = list(decode([next(octets) for _ in range(meant["datagrams"])], PROFILE))
        out.append((meant, {message["message"].split(".")[0]: message for message in messages}))
    assert next(octets, None) is None
    return out


def pdus(messages: dict[str, dict[str, Any]], message: str, kind: str) -> list[dict[str, Any]]:
    return [pdu for pdu in messages.get(message, {"pdus": []})["pdus"] if pdu["pdu"] == kind]


def dcis(messages: dict[str, dict[str, Any]], message: str) -> Iterator[dict[str, Any]]:
    for pdu in pdus(messages, message, "PDCCH"):
        yield from pdu["dl_dcis"]


def same_allocation(meant: dict[str, Any], grant: dict[str, Any], dci: dict[str, int], pdu: dict[str, Any]) -> None:
    where = (grant["first_prb"], grant["prbs"])
    assert rivs(meant["prbs"])[dci["riv"]] == where == (pdu["rb_start"], pdu["rb_size"])
    for name in ("mcs", "ndi", "rv", "process"):
        assert dci[name] == grant[name], name
    assert (pdu["bwp_size"], pdu["bwp_start"], pdu["subcarrier_spacing"]) == (meant["prbs"], 0, meant["mu"])
    assert pdu["nr_of_layers"] == 1 and pdu["nr_of_symbols"] == meant["symbols"]


def same_coding(meant: dict[str, Any], grant: dict[str, Any], pdu: dict[str, Any]) -> None:
    bits, rate = MCS_TABLES[meant["mcs_table"]][grant["mcs"]]
    assert (pdu["qam_mod_order"], pdu["target_code_rate"]) == (bits, rate * 10240)
    assert (pdu["mcs_table"], pdu["mcs_index"]) == (meant["mcs_table"] - 1, grant["mcs"])


def symbols(bits: int) -> set[int]:
    return {symbol for symbol in range(14) if bits >> symbol & 1}


def test_each_downlink_grant_has_its_dci_pdsch_and_block(slots: list[Slot]) -> None:
    seen = 0
    for meant, messages in slots:
        assert (messages["DL_TTI"]["sfn"], messages["DL_TTI"]["slot"]) == (meant["sfn"], meant["slot"])
        of_ue = {dci["rnti"]: format_1_0(dci, meant["prbs"]) for dci in dcis(messages, "DL_TTI")}
        pdschs = {pdu["rnti"]: pdu for pdu in pdus(messages, "DL_TTI", "PDSCH")}
        blocks = {pdu["pdu_index"]: pdu["tlvs"] for pdu in messages.get("TX_DATA", {"pdus": []})["pdus"]}
        assert of_ue.keys() == pdschs.keys() == {grant["rnti"] for grant in meant["downlink"]}
        assert len(blocks) == len(meant["downlink"])
        for grant in meant["downlink"]:
            seen += 1
            dci, pdsch = of_ue[grant["rnti"]], pdschs[grant["rnti"]]
            (codeword,) = pdsch["codewords"]
            same_allocation(meant, grant, dci, pdsch)
            same_coding(meant, grant, codeword)
            assert (dci["format"], dci["row"], dci["vrb_to_prb"], dci["timing"] + 1) == (1, 0, 0, meant["k"])
            assert (codeword["rv_index"], codeword["tb_size"]) == (grant["rv"], grant["tb_bytes"])
            assert pdsch["start_symbol_index"] + pdsch["nr_of_symbols"] == 14
            assert symbols(pdsch["dl_dmrs_symb_pos"]) == DMRS[14][meant["dmrs_res"] // 12 - 1]
            assert "".join(tlv["payload"] for tlv in blocks[pdsch["pdu_index"]]) == bytes(grant["block"]).hex()
    assert seen > 500


def test_each_uplink_grant_has_its_dci_and_pusch(slots: list[Slot]) -> None:
    seen = 0
    for meant, messages in slots:
        of_ue = {dci["rnti"]: format_0_0(dci, meant["prbs"]) for dci in dcis(messages, "UL_DCI")}
        puschs = {pdu["rnti"]: pdu for pdu in pdus(messages, "UL_TTI", "PUSCH")}
        assert of_ue.keys() == puschs.keys() == {grant["rnti"] for grant in meant["uplink"]}
        for grant in meant["uplink"]:
            seen += 1
            dci, pusch = of_ue[grant["rnti"]], puschs[grant["rnti"]]
            same_allocation(meant, grant, dci, pusch)
            same_coding(meant, grant, pusch)
            assert (dci["format"], dci["row"] + 1, dci["hopping"]) == (0, meant["k"], 0)
            data = pusch["pusch_data"]
            assert (data["rv_index"], data["harq_process_id"]) == (grant["rv"], grant["process"])
            assert (data["tb_size"], data["new_data_indicator"]) == (grant["tb_bytes"], int(grant["new"]))
            assert pusch["transform_precoding"] == 1 and pusch["start_symbol_index"] == 0
            assert symbols(pusch["ul_dmrs_symb_pos"]) == DMRS[meant["symbols"]][meant["dmrs_res"] // 12 - 1]
    assert seen > 500


def test_feedback_and_requests_are_ordered_k_slots_later(slots: list[Slot]) -> None:
    both = 0
    for meant, messages in slots:
        per_frame = 10 << meant["mu"]
        later = (meant["sfn"] * per_frame + meant["slot"] + meant["k"]) % (1024 * per_frame)
        assert messages["UL_TTI"]["sfn"] * per_frame + messages["UL_TTI"]["slot"] == later
        down = {grant["rnti"] for grant in meant["downlink"]}
        up = {grant["rnti"] for grant in meant["uplink"]}
        puschs = pdus(messages, "UL_TTI", "PUSCH")
        bits = {pdu["rnti"]: pdu.get("pusch_uci", {}).get("harq_ack_bit_length", 0) for pdu in puschs}
        assert bits == {rnti: int(rnti in down) for rnti in up}
        pucchs = pdus(messages, "UL_TTI", "PUCCH")
        assert sorted(pdu["rnti"] for pdu in pucchs if pdu["bit_len_harq"]) == sorted(down - up)
        assert sorted(pdu["rnti"] for pdu in pucchs if pdu["sr_flag"]) == sorted(set(meant["chances"]) - up)
        assert len({pdu["rnti"] for pdu in pucchs}) == len(pucchs)
        both += len(down & up)
    assert both > 50


def test_nothing_lies_on_the_same_resource(slots: list[Slot]) -> None:
    for meant, messages in slots:
        cces = [dci["cce_index"] for message in ("DL_TTI", "UL_DCI") for dci in dcis(messages, message)]
        coresets = [pdu for message in ("DL_TTI", "UL_DCI") for pdu in pdus(messages, message, "PDCCH")]
        assert len(set(cces)) == len(cces)
        for pdu in coresets:
            groups = int(pdu["freq_domain_resource"], 16) >> 3
            assert f"{groups:045b}" == "1" * (meant["prbs"] // 6) + "0" * (45 - meant["prbs"] // 6)
            assert pdu["duration_symbols"] + meant["symbols"] == 14
            assert all(cce < meant["prbs"] // 6 * pdu["duration_symbols"] for cce in cces)
        # PUCCH format 0: ACK, NACK and SR are cyclic shifts 0, 3, 6 and 9 from the initial one (TS 38.213 9.2.5).
        shifts = [
            (pdu["prb_start"], (pdu["initial_cyclic_shift"] + shift) % 12)
            for pdu in pdus(messages, "UL_TTI", "PUCCH")
            for shift in (0, 3, 6, 9)
        ]
        assert len(set(shifts)) == len(shifts)
        for pdu in pdus(messages, "UL_TTI", "PUCCH"):
            assert pdu["format_type"] == 0 and pdu["prb_start"] < meant["prbs"]
            assert pdu["start_symbol_index"] == meant["symbols"] < 14  # behind the PUSCHs
