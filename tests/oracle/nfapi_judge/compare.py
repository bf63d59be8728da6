"""Compares datagrams with the values that their encoder meant.

Datagrams come as a sequence of [u32 big-endian length][octets], the values as a list of flat objects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from .nfapi import P5_HEADER, P5_IDS, P7_HEADER, decode, decode_body, message_name
from .profile import Profile

# Parts that the decoder nests and the sample's keys do not.
INLINED = {
    "precoding_and_beamforming", "beamforming", "pdsch_ptrs", "cbg_retx_ctrl", "pusch_data", "pusch_uci", "pusch_ptrs",
    "dfts_ofdm", "sr", "harq", "csi_part1", "csi_part2",
}  # fmt: skip
# Keys of the decoder only: names of PDU types, sizes (the decoder checks them), readings.
DROPPED = {
    "pdu", "pdu_size", "pdu_length_reading", "offset", "number_of_tlvs", "message_length", "spare", "more",
    "segment_number", "segments", "checksum",
}  # fmt: skip
RENAMED = {
    "number_of_invalid_or_unsupported_tlvs": "num_invalid_tlvs",
    "number_of_invalid_tlvs_only_in_idle": "num_idle_only_tlvs",
    "number_of_invalid_tlvs_only_in_running": "num_running_only_tlvs",
    "number_of_missing_tlvs": "num_missing_tlvs",
    "invalid_or_unsupported_tlvs": "invalid_tlvs",
    "invalid_tlvs_only_in_idle": "idle_only_tlvs",
    "invalid_tlvs_only_in_running": "running_only_tlvs",
    "max_pduschs_tbs_per_slot": "max_puschs_tbs_per_slot",
    "supported_modulation_order_ul": "supported_max_modulation_order_ul",
    "failed_message_id": "message_id",
    "ports": "ptrs_ports",
    "harq_values": "harq_value",
}


def datagrams(data: bytes) -> list[bytes]:
    out: list[bytes] = []
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        if at + 4 + size > len(data):
            raise ValueError(f"octets.bin ends inside datagram {len(out)}")
        out.append(data[at + 4 : at + 4 + size])
        at += 4 + size
    return out


def flat(prefix: str, value: Any, uplink: bool) -> Iterator[tuple[str, Any]]:
    """Key and value of the sample's form."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from flat(f"{prefix}{index}.", item, uplink) if prefix else ()
        return
    if not isinstance(value, dict):
        yield prefix[:-1], value
        return
    for key, item in value.items():
        name = RENAMED.get(key, key)
        if key in DROPPED:
            continue
        if key == "dig_bf_interfaces" and uplink:
            name = "dig_bf_interface"
        yield from flat(prefix if key in INLINED else f"{prefix}{name}.", item, uplink)


def as_sample(message: dict[str, Any]) -> dict[str, Any]:
    """A decoded message under the keys of the sample."""
    name = message["message"].lower().replace("timing.info", "timing_info")
    body = dict(message)
    out = {"message": name, "interface": body.pop("interface").lower(), "header_message_id": body.pop("message_id")}
    del body["message"]
    if "number_of_tlvs" in body:
        for item in body.pop("tlvs"):
            key = RENAMED.get(item["name"], item["name"])
            if key in out:
                raise ValueError(f"{name}: {key} twice")
            out[key] = item["value"]
    if name == "rx_data.indication":
        body["pdus"] = [dict(one) for one in body["pdus"]]
        payloads = [one.pop("payload") for one in body["pdus"]]
        out |= {f"pdus.{index}.pdu": payload for index, payload in enumerate(payloads)}
    if "groups" in body:
        body["groups"] = [{"n_ue": len(group), "pdu_idx": group} for group in body["groups"]]
    out |= dict(flat("", body, name == "ul_tti.request"))
    return out


def differences(got: dict[str, Any], meant: dict[str, Any]) -> Iterator[str]:
    for key in sorted(got.keys() | meant.keys()):
        if key in ("first_datagram", "datagrams"):
            continue
        if key not in meant:
            yield f"{key}: decoded {got[key]!r}, not in the values"
        elif key not in got:
            yield f"{key}: meant {meant[key]!r}, not in the octets"
        elif got[key] != meant[key]:
            yield f"{key}: decoded {got[key]!r}, meant {meant[key]!r}"


def compare(octets: list[bytes], values: list[dict[str, Any]], profile: Profile) -> tuple[Counter[str], list[str]]:
    """How many messages agree by name, and a line for each disagreement."""
    right: Counter[str] = Counter()
    wrong = []
    next_one = 0
    for index, meant in enumerate(values):
        first, count = meant["first_datagram"], meant["datagrams"]
        if first != next_one:
            wrong.append(f"{index} {meant['message']}: first datagram {first}, {next_one} by count")
        next_one = first + count
        try:
            (message,) = decode(octets[first : first + count], profile)
            if message["interface"] == "P7" and message["segments"] != count:
                raise ValueError(f"{message['segments']} segments, {count} meant")
            lines = list(differences(as_sample(message), meant))
        except ValueError as error:
            lines = [str(error)]
        right[meant["message"]] += not lines
        wrong += [f"{index} {meant['message']}: {line}" for line in lines]
    if next_one != len(octets):
        wrong.append(f"{len(octets)} datagrams, {next_one} named by the values")
    return right, wrong


def unnoticed(octets: list[bytes], values: list[dict[str, Any]], profile: Profile) -> tuple[int, list[str]]:
    """Changes every octet of every body that is one datagram: how many there were, and which changes went unseen."""
    changed, unseen = 0, []
    for meant in values:
        if meant["datagrams"] != 1:
            continue
        whole = octets[meant["first_datagram"]]
        message_id = int.from_bytes(whole[2:4], "big")
        name = message_name(message_id, profile)
        p5 = message_id in P5_IDS
        body = whole[P5_HEADER if p5 else P7_HEADER :]
        head = {"message": name, "interface": "P5" if p5 else "P7", "message_id": message_id}
        head |= {key: meant[key] for key in ("phy_id", "sequence_number", "transmit_timestamp") if key in meant}
        for at in range(len(body)):
            other = bytearray(body)
            other[at] ^= 0x5A
            changed += 1
            try:
                seen = any(differences(as_sample(head | decode_body(name, bytes(other), profile)), meant))
            except ValueError:
                seen = True
            if not seen:
                unseen.append(f"{name} in datagram {meant['first_datagram']}, octet {at} of the body")
    return changed, unseen
