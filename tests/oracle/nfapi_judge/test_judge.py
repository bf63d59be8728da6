"""Sanity tests; all octets are written by hand."""

from __future__ import annotations

import unittest
import zlib
from dataclasses import replace
from typing import Any

from nfapi_judge import AERIAL, OAI, OPEN, SCF_10_02, Profile, decode
from nfapi_judge.nfapi import checksum, decode_body


def octets(text: str) -> bytes:
    return bytes.fromhex("".join(line.split("#")[0] for line in text.splitlines()))


def p7(message_id: str, body: bytes, mss: str = "0001", length: int | None = None) -> bytes:
    """A P7 datagram with the checksum worked out here, apart from the decoder: bitwise, CRC-32 register as it is."""
    total = 18 + len(body) if length is None else length
    head = bytes.fromhex("0001" + message_id) + total.to_bytes(4, "big") + bytes.fromhex(mss)
    register = 0xFFFFFFFF
    for octet in head + bytes(4) + body:
        register ^= octet
        for _ in range(8):
            register = register >> 1 ^ (0xEDB88320 if register & 1 else 0)
    return head + register.to_bytes(4, "big") + bytes.fromhex("000003e8") + body


def one(datagram: bytes, profile: Profile = OPEN) -> dict[str, Any]:
    (message,) = decode([datagram], profile)
    return message


PDSCH = """
    0001 005c 0000 1234 0000 006a 0000 01 00   # PDSCH, size 92, bitmap, rnti, index, BWP 106 at 0, 30 kHz, normal
    01 0ece 02 05 00 00 00000081               # one codeword: rate, QPSK, MCS 5, table 0, rv 0, 129 octets
    002a 01 00 01 0244 00 0029 00 02 0001      # scrambling 42, 1 layer, scheme, refPoint, DMRS
    01"""
PDSCH_END = """
    0003 0010 00 02 0a                         # RBs 3..18, symbols 2..11
    0000 0000 00 05 01                         # no PRG; power"""


def pdsch(size: str = "005c", end: str = "") -> bytes:
    data = octets(PDSCH) + bytes(36) + octets(PDSCH_END + end)
    return data[:2] + bytes.fromhex(size) + data[4:]


class Headers(unittest.TestCase):
    def test_slot_indication(self) -> None:
        message = one(p7("0082", octets("03ff 0013"), "0007"))
        self.assertEqual(message["message"], "SLOT.indication")
        self.assertEqual((message["sfn"], message["slot"], message["sequence_number"]), (1023, 19, 7))
        self.assertEqual(message["transmit_timestamp"], 1000)

    def test_checksum_rules(self) -> None:
        datagram = p7("0082", octets("0001 0002"))
        covered = datagram[:10] + bytes(4) + datagram[18:]
        self.assertEqual(checksum(datagram, OPEN), zlib.crc32(covered) ^ 0xFFFFFFFF)
        self.assertEqual(checksum(datagram, replace(OPEN, checksum="zero")), 0)

    def test_bad_checksum_and_timestamp(self) -> None:
        datagram = bytearray(p7("0082", octets("0001 0002")))
        datagram[15] ^= 1  # the timestamp is not covered
        one(bytes(datagram))
        datagram[-1] ^= 1
        with self.assertRaisesRegex(ValueError, "bad checksum"):
            one(bytes(datagram))

    def test_lengths(self) -> None:
        for datagram, reason in (
            (p7("0082", octets("0001 0002 00")), "trailing"),
            (p7("0082", octets("0001 00")), "needs 2 octets"),
            (p7("0082", octets("0001 0002"), length=4), "message length 4"),
            (p7("008a", b""), "unknown message id 0x008a"),
            (p7("0082", octets("0400 0002")), "sfn 1024"),
            (b"\0" * 9, "shorter than a header"),
            (octets("0001 0004 0000000a 0000"), "message length 10, 0 by"),
        ):
            with self.assertRaisesRegex(ValueError, reason):
                one(datagram)

    def test_segments_in_any_order(self) -> None:
        body = octets("0001 0002 0001  0000000b 1234 05 00000004 80 001f 0fa0 deadbeef")
        parts = [p7("0085", body[:10], "8009"), p7("0085", body[10:20], "8109"), p7("0085", body[20:], "0209")]
        for order in ((0, 1, 2), (2, 0, 1)):
            (message,) = decode([parts[at] for at in order])
            self.assertEqual((message["segments"], message["more"], message["segment_number"]), (3, 1, 0))
            self.assertEqual(message["pdus"][0]["payload"], "deadbeef")
        for wrong, reason in (
            (parts[:2], "only segments"),
            ([parts[0], parts[0]], "came twice"),
            ([parts[2], p7("0085", b"", "8309")], "goes on after"),
        ):
            with self.assertRaisesRegex(ValueError, reason):
                list(decode(wrong))


class P5(unittest.TestCase):
    def test_empty(self) -> None:
        for code, name in (("0000", "PARAM"), ("0004", "START"), ("0005", "STOP")):
            message = one(octets(f"0001 {code} 00000000 0000"))
            self.assertEqual((message["message"], message["interface"]), (name + ".request", "P5"))
        self.assertEqual(one(octets("0001 0006 00000000 0000"))["message"], "STOP.indication")

    def test_config_request(self) -> None:
        body = octets("""
            04
            1001 0002 0064 0000                     # 100 MHz, two octets of padding
            1003 000a 0000 0001 0002 0003 0004 0000 # dlK0
            100e 0004 fffffff6                      # -10 dBm
            100d 0001 01 000000""")
        message = one(octets("0001 0002") + len(body).to_bytes(4, "big") + b"\0\0" + body)
        values = {item["name"]: item["value"] for item in message["tlvs"]}
        want = {"dl_bandwidth": 100, "dl_k0": [0, 1, 2, 3, 4], "ss_pbch_power": -10, "frame_duplex_type": 1}
        self.assertEqual(values, want)

    def test_tlv_refused(self) -> None:
        for text, reason in (
            ("01 1001 0002 0064", "padding"),
            ("01 1001 0002 0064 0001", "not zero"),
            ("01 1001 0001 64 000000", "1 octets"),
            ("01 2001 0001 64 000000", "unknown tag"),
            ("02 100d 0001 01 000000", "tag needs"),
        ):
            with self.assertRaisesRegex(ValueError, reason):
                decode_body("CONFIG.request", octets(text), OPEN)

    def test_responses(self) -> None:
        param = decode_body("PARAM.response", octets("00 02 0001 0002 0001 0000 0102 0002 c383 0000"), OPEN)
        self.assertEqual([item["value"] for item in param["tlvs"]], [1, 0xC383])
        config = decode_body("CONFIG.response", octets("02 00 00 00 01 100c 0002 0000 0000"), OPEN)
        self.assertEqual((config["error_code"], config["missing_tlvs"][0]["tag"]), (2, 0x100C))

    def test_error_indication(self) -> None:
        message = one(octets("0001 0007 00000006 0000 000a 0010 80 06"))
        self.assertEqual((message["sfn"], message["failed_message_id"], message["error_code"]), (10, 0x80, 6))


class Down(unittest.TestCase):
    def test_dl_tti_pdcch(self) -> None:
        body = octets("""
            0002 0003 01 00
            0000 0031 0030 006e 01 00 00 01          # PDCCH, size 49, BWP 48 at 110, 30 kHz, symbols 0..0
            ff0000000000 01 06 02 00 0000 00 0001    # frequency, mapping, shift, granularity, one DCI
            ffff 0001 0000 00 04                     # RNTI, scrambling, CCE 0, level 4
            0000 0000 01  00 01 0027 00 00 14 01 2d  # no PRG; power; 39 bits""")
        message = one(p7("0080", body))
        dci = message["pdus"][0]["dl_dcis"][0]
        self.assertEqual((dci["rnti"], dci["payload_size_bits"], dci["payload"]), (0xFFFF, 39, "000014012d"))

    def test_ul_dci(self) -> None:
        body = octets("""
            0002 0003 01
            0000 0032 0111 0000 01 00 00 01          # PDCCH, size 50, BWP 273 at 0, 30 kHz, symbols 0..0
            fffffffffff8 00 06 00 01 0000 00 0001    # 45 groups of RBs, mapping, shift, granularity, one DCI
            4601 0001 4601 2c 01                     # RNTI, scrambling, CCE 44, level 1
            0000 0000 00  00 01 002c 0a269a8fd000    # no PRG; power; 44 bits: DCI 0_0""")
        message = one(p7("0083", body))
        self.assertEqual((message["message"], message["num_pdus"]), ("UL_DCI.request", 1))
        dci = message["pdus"][0]["dl_dcis"][0]
        self.assertEqual((dci["rnti"], dci["cce_index"], dci["payload"]), (0x4601, 44, "0a269a8fd000"))
        with self.assertRaisesRegex(ValueError, "unknown PDU type 1"):
            one(p7("0083", body[:5] + b"\0\1" + body[7:]))

    def test_dl_tti_pdsch(self) -> None:
        message = one(p7("0080", octets("0002 0003 01 01") + pdsch() + octets("01 00")))
        pdu = message["pdus"][0]
        self.assertEqual((pdu["pdu_size"], pdu["rnti"], pdu["rb_start"], pdu["rb_size"]), (92, 0x1234, 3, 16))
        self.assertEqual((pdu["codewords"][0]["tb_size"], pdu["power_control_offset_ss"]), (129, 1))
        self.assertEqual(message["groups"], [[0]])

    def test_maintenance(self) -> None:
        body = octets("0002 0003 01 00") + pdsch("0061", "\n02 00012345")
        pdu = decode_body("DL_TTI.request", body, OAI)["pdus"][0]
        self.assertEqual((pdu["ldpc_base_graph"], pdu["tb_size_lbrm_bytes"]), (2, 0x12345))
        with self.assertRaisesRegex(ValueError, "5 trailing octets"):
            decode_body("DL_TTI.request", body, OPEN)

    def test_pdu_size(self) -> None:
        for size, reason in (("005b", "needs"), ("005d", "needs 89"), ("0003", "does not hold")):
            with self.assertRaisesRegex(ValueError, reason):
                decode_body("DL_TTI.request", octets("0002 0003 01 00") + pdsch(size), OPEN)

    def test_ul_tti_pusch(self) -> None:
        head = octets("""
            0002 0008 01 00 01 00 00
            0001 0072 0003 4601 00000007 006a 0000 01 00  # size 114, data and UCI, RNTI, handle, BWP
            0ece 02 05 00 00 002a 01                      # rate, QPSK, MCS, table, no precoding, scrambling, 1 layer
            0004 00 0001 0002 00 02 0001 01""")
        tail = octets("""
            0005 000a 00 00 0ce5 00 00 0e                 # RBs, DC 3301, symbols 0..13
            01 0f 01 00000400 0009 ff80                   # data: rv 1, HARQ 15, NDI, 1024 octets, nine CBs
            0002 0000 0000 03 04 05 06                    # UCI
            0001 006a 01 0007                             # one PRG, one beam""")
        message = one(p7("0081", head + bytes(36) + tail))
        pdu = message["pdus"][0]
        self.assertEqual((pdu["rnti"], pdu["handle"], pdu["tx_direct_current_location"]), (0x4601, 7, 3301))
        self.assertEqual((pdu["pusch_data"]["tb_size"], pdu["pusch_data"]["cb_present_and_position"]), (1024, "ff80"))
        self.assertEqual((pdu["pusch_uci"]["beta_offset_csi2"], pdu["beamforming"]["prgs"]), (6, [{"beam_idx": [7]}]))
        with self.assertRaisesRegex(ValueError, "n_ulsch"):
            decode_body("UL_TTI.request", head[:6] + b"\2" + head[7:] + bytes(36) + tail, OPEN)

    def test_tx_data(self) -> None:
        body = octets("0001 0002 0001 00000013 0000 00000001 0000 0005 0102030405 000000")
        pdu = one(p7("0084", body))["pdus"][0]
        self.assertEqual((pdu["tlvs"][0]["payload"], pdu["pdu_length_reading"]), ("0102030405", "description and data"))
        short = octets("0001 0002 0001 0011 0000 00000001 0000 0005 0102030405 000000")
        self.assertEqual(decode_body("TX_DATA.request", short, SCF_10_02)["pdus"][0]["pdu_length"], 17)
        words = octets("0001 0002 0001 00000011 0000 00000001 0000 00000005 04030201 00000005")
        pdu = decode_body("TX_DATA.request", words, OAI)["pdus"][0]
        self.assertEqual(pdu["tlvs"][0]["payload"], "0102030405")
        self.assertIn("OAI", pdu["pdu_length_reading"])
        wide = replace(OPEN, tx_tlv_length_bits=32)
        tail = "0001 0002 0001 0000001b 0000 00000001 0002 00000007 00000000 01020304050607"
        pdu = decode_body("TX_DATA.request", octets(tail), wide)["pdus"][0]
        self.assertEqual((pdu["tlvs"][0]["payload"], pdu["pdu_length"]), ("01020304050607", 27))
        with self.assertRaisesRegex(ValueError, "1 trailing octets after"):
            decode_body("TX_DATA.request", octets(tail + "00"), wide)
        offset = octets("0001 0002 0001 00000005 0000 00000001 0002 0005 00000040")
        pdu = decode_body("TX_DATA.request", offset, AERIAL)["pdus"][0]
        self.assertEqual((pdu["tlvs"][0]["offset"], pdu["pdu_length_reading"]), (64, "data only (Aerial)"))
        with self.assertRaisesRegex(ValueError, "tag 1"):
            decode_body("TX_DATA.request", octets("0001 0002 0001 00000008 0000 00000001 0001 0004 00000000"), OPEN)
        with self.assertRaisesRegex(ValueError, "PDU length 20"):
            decode_body("TX_DATA.request", body[:9] + b"\x14" + body[10:], OPEN)

    def test_types_not_offered(self) -> None:
        body = octets("0001 0002 01 00 0009 0006 beef")
        some = replace(OPEN, offered=frozenset({"PDCCH"}))
        self.assertEqual(decode_body("DL_TTI.request", body, some)["pdus"][0]["octets"], "beef")
        with self.assertRaisesRegex(ValueError, "unknown PDU type 9"):
            decode_body("DL_TTI.request", body, OPEN)


class Up(unittest.TestCase):
    def test_crc(self) -> None:
        body = octets("0001 0002 0001 0000000b 1234 05 01 0008 ff 80 001f 0fa0")
        crc = one(p7("0086", body))["crcs"][0]
        self.assertEqual((crc["cb_crc_status"], crc["ul_cqi"], crc["rssi"]), ("ff", 128, 4000))
        longer = octets("0001 0002 0001 0000000b 1234 05 01 0008 ff00 80 001f 0fa0")
        self.assertEqual(decode_body("CRC.indication", longer, OAI)["crcs"][0]["cb_crc_status"], "ff00")
        none = octets("0001 0002 0001 0000000b 1234 05 00 0000 80 001f 0fa0")
        self.assertEqual(decode_body("CRC.indication", none, OAI)["crcs"][0]["cb_crc_status"], "")

    def test_uci(self) -> None:
        body = octets("""
            0001 0002 0003
            0001 0016 03 00000007 4601 00 80 001f 0fa0  01 00  01 00 00    # format 0: SR and one HARQ
            0000 0018 06 00000008 4602 80 001f 0fa0  00 0001 80  01 0004 f0  # PUSCH: HARQ and CSI part 1
            0002 0014 01 00000009 4603 01 80 001f 0fa0  0001 80""")
        short, pusch, long_ = one(p7("0087", body))["ucis"]
        self.assertEqual((short["sr"]["sr_indication"], short["harq"]["harq_values"]), (1, [0]))
        self.assertEqual((pusch["harq"]["harq_payload"], pusch["csi_part1"]["csi_part1_bit_len"]), ("80", 4))
        self.assertEqual((long_["pucch_format"], long_["sr"]["sr_payload"]), (1, "80"))
        with self.assertRaisesRegex(ValueError, "trailing"):
            decode_body("UCI.indication", octets("0001 0002 0001 0001 0012 00 00000007 4601 00 80 001f 0fa0 00"), OPEN)

    def test_node_sync_and_timing(self) -> None:
        down, up = octets("000003e8 ffffffff"), octets("000003e8 00000001 00000002")
        self.assertEqual(one(p7("0180", down))["delta_sfn_slot"], -1)
        self.assertEqual(one(p7("0181", up))["t3"], 2)
        self.assertEqual(one(p7("0180", up), OAI)["message"], "UL_NODE_SYNC")
        with self.assertRaisesRegex(ValueError, "4 trailing octets"):
            one(p7("0180", up))
        info = one(p7("0182", octets("000003ff 00000013 00000064") + bytes(16) + b"\xff" * 16 + bytes(16)))
        self.assertEqual(
            (info["last_sfn"], info["dl_tti_latest_delay"], info["ul_dci_earliest_arrival"]), (1023, -1, 0)
        )
        scf = replace(OPEN, sync_scf225_2=True)
        self.assertEqual(one(p7("0180", down + b"\x1e"), scf)["subcarrier_spacing"], 30)


if __name__ == "__main__":
    unittest.main()
