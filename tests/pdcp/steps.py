"""Plays steps (protocol.md) on the models; as a program, on its standard input: `python -m pdcp.steps [MUTANT]`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from pdcp.model import Config, PdcpEntity, Security
from pdcp.sdap import SDAP_ROLES, Drb, SdapEntity

Step = dict[str, Any]
Reply = dict[str, Any]


def security_of(values: dict) -> Security:
    return Security(
        values["cipher"],
        bytes.fromhex(values.get("cipher_key", "00" * 16)),
        values["integrity"],
        bytes.fromhex(values.get("integrity_key", "00" * 16)),
    )


class ModelHost:
    """Entities by name. A step is a dictionary, and so is its answer."""

    def __init__(self) -> None:
        self.entities: dict[str, PdcpEntity | SdapEntity] = {}

    def run(self, step: Step) -> Reply:
        name, op = step["entity"], step["op"]
        if op == "new":
            self.entities[name] = self.new(step)
        entity = self.entities[name]
        if isinstance(entity, SdapEntity):
            reply = SDAP_OPS[op](entity, step)
        else:
            entity.advance(step["t"])
            reply = PDCP_OPS[op](entity, step)
        if op == "release":
            del self.entities[name]
        return self.answer_of(entity, reply)

    def new(self, step: Step) -> PdcpEntity | SdapEntity:
        if step.get("kind", "pdcp") == "sdap":
            drbs = {int(number): Drb(**values) for number, values in step["drbs"].items()}
            return SDAP_ROLES[step["role"]](drbs, step["default_drb"])
        return PdcpEntity(Config(**step["config"]), security_of(step["security"]))

    def answer_of(self, entity: PdcpEntity | SdapEntity, reply: dict | None) -> Reply:
        answer = entity.take_answer()
        out: Reply = {
            "pdus": [[target, pdu.hex()] for target, pdu in answer.pdus],
            "indications": [list(indication) for indication in answer.indications],
            "state": entity.state(),
            "counters": {name: number for name, number in entity.counters.items() if number},
            "reply": reply or {},
        }
        if isinstance(entity, SdapEntity):
            out["delivered"] = [[qfi, sdu.hex()] for qfi, sdu in answer.delivered]
        else:
            out["delivered"] = [sdu.hex() for sdu in answer.delivered]
            out["discards"] = answer.discards
        return out


PDCP_OPS: dict[str, Callable[[PdcpEntity, Step], dict | None]] = {
    "new": lambda entity, step: None,
    "advance": lambda entity, step: None,
    "send_sdu": lambda entity, step: entity.send_sdu(bytes.fromhex(step["data"]), step["t"]),
    "receive_pdu": lambda entity, step: entity.receive_pdu(bytes.fromhex(step["data"]), step["t"]),
    "confirm": lambda entity, step: entity.confirm(step["counts"]),
    "data_recovery": lambda entity, step: entity.data_recovery(),
    "reestablish": lambda entity, step: entity.reestablish(security_of(step["security"])),
    "suspend": lambda entity, step: entity.suspend(),
    "release": lambda entity, step: entity.release(),
    "set_t_reordering": lambda entity, step: entity.set_t_reordering(step["value_us"], step["t"]),
    "get_count": lambda entity, step: entity.get_count(),
    "set_count": lambda entity, step: entity.set_count(
        step["tx_next"], step["rx_deliv"], {count: bytes.fromhex(sdu) for count, sdu in step["received"]}
    ),
    "counter_check": lambda entity, step: entity.counter_check(),
}
SDAP_OPS: dict[str, Callable[[SdapEntity, Step], dict | None]] = {
    "new": lambda entity, step: None,
    "sdap_send": lambda entity, step: entity.send(step["qfi"], bytes.fromhex(step["data"]), step["rdi"], step["rqi"]),
    "sdap_receive": lambda entity, step: entity.receive(step["drb"], bytes.fromhex(step["data"])),
    "rule_configure": lambda entity, step: entity.rule_configure(step["qfi"], step["drb"]),
    "rule_release": lambda entity, step: entity.rule_release(step["qfi"]),
    "drb_release": lambda entity, step: entity.drb_release(step["drb"]),
    "release": lambda entity, step: None,
}


def serve(host: ModelHost) -> None:
    """One line in, one line out, in order; the peer may send many lines before it reads."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(host.run(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        from pdcp.mutants import mutant_named

        serve(mutant_named(sys.argv[1]).host_class()())
    else:
        serve(ModelHost())
