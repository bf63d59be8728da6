"""The points where the public sources disagree, each a field of a profile; every value has a public source.

Sources, by the short names used in this package:
  OAI       openairinterface5g, nfapi/open-nFAPI/{nfapi,fapi,common}/, snapshots of 2024-03 and 2025-09
  Aerial    NVIDIA aerial-cuda-accelerated-ran, cuPHY-CP/scfl2adapter/lib/scf_5g_fapi/scf_5g_fapi.h (names the tables
            of SCF-222 10.02), and docs.nvidia.com "SCF FAPI support" (lists its deviations from 222.10.02)
  O-DU      o-ran-sc/o-du-l2, nfapi_interface.h and nfapi_common.c (name the tables of SCF-225 225.2.1)
  Intel     o-ran-sc/o-du-l2 copy of Intel's fapi_interface.h (names the tables of SCF-222 10.02; fields reordered)
  Wireshark epan/dissectors/packet-nfapi.c (LTE, SCF-082.09.04: the ancestor of the P7 header)
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Profile:
    """One reading of the format."""

    name: str
    # "oai": NOT zlib-crc32 as nfapi_nr_calculate_checksum of OAI (and of cisco/open-nFAPI for LTE);
    # "zero": checksum not used, the field shall be 0 (OAI with checksum_enabled == 0; SCF-225 2.1 has no such field).
    checksum: str = "oai"
    # P5 "message length": the body only (OAI nfapi_nr_p5_message_pack; SCF-225 2.1 Table 2-4 as in O-DU).
    p5_length_with_header: bool = False
    # P7 "message length": header and body of this segment (OAI nfapi_nr_p7_message_pack and send_p7_msg).
    p7_length_with_header: bool = True
    # DL_NODE_SYNC / UL_NODE_SYNC: 0x0180 / 0x0181 in SCF-225 Table 2-7 (O-DU) and Wireshark; OAI has them swapped.
    node_sync_swapped: bool = False
    # The subcarrier spacing octet at the end of DL_NODE_SYNC and TIMING.info, and 16-bit SFN and slot in TIMING.info:
    # SCF-225 225.2.1 Tables 4-1 and 4-3 as in O-DU. OAI: no such octet, 32-bit SFN and slot.
    sync_scf225_2: bool = False
    # PDSCH and PUSCH PDUs end with ldpcBaseGraph and tbSizeLbrmBytes (OAI unless built for Aerial; from 222.10.04).
    maintenance_v3: bool = False
    # TX_DATA.request PDU Length and RX_DATA.indication PDU Length: 16 bits in 222.10.02, 32 in 10.03, Aerial, OAI.
    pdu_length_bits: int = 32
    # The length field of the TLVs of TX_DATA.request: 16 bits in 222.10.02 and Aerial, 32 in OAI (and 10.04).
    tx_tlv_length_bits: int = 16
    # The inline payload of TX_DATA.request: octets as they are (Aerial's buffers, O-DU), or each 32-bit word of a
    # little-endian host in network order, so octets reversed four by four (OAI pusharray32 of value.direct).
    tx_words_swapped: bool = False
    # The inline payload of TX_DATA.request is padded to a multiple of 4 octets (222.10.02 Table 3-58 as quoted in OAI).
    tx_padded: bool = True
    # Payloads of tag 2 travel in another buffer (Aerial, nvIPC), or after the last TLV of the message.
    tx_payload_apart: bool = False
    # Bit strings take ceil(n / 8) octets (222.10.02, Aerial); OAI writes n / 8 + 1 in CRC and UCI indications.
    bits_plus_one: bool = False
    # Check values too, not only the layout: counts against PDUs, reserved bits, numbers of codewords and HARQ bits.
    check_values: bool = True
    # PDUs of types outside of these are given as octets, whatever their type; None: all that is decoded here.
    offered: frozenset[str] | None = None
    # The PDU index in the groups of DL_TTI.request: 8 bits (222.10.02, Aerial, OAI unpack); OAI packs 32 bits.
    dl_group_index_bits: int = 8


# 222.10.02 to the letter over the open nFAPI header.
SCF_10_02 = Profile("scf-222.10.02", pdu_length_bits=16)
# What Aerial understands: 222.10.02 with 32-bit PDU lengths.
AERIAL = Profile("aerial", tx_payload_apart=True)
# What OAI sends between its own VNF and PNF.
OAI = Profile(
    "oai",
    node_sync_swapped=True,
    maintenance_v3=True,
    tx_tlv_length_bits=32,
    tx_words_swapped=True,
    bits_plus_one=True,
    dl_group_index_bits=32,
)
# The default: bodies on which the open projects agree with 222.10.02; where they part, 222.10.02 as in Aerial.
OPEN = Profile("open")
