"""YAML 1.2 core schema for PyYAML, as editors and yaml-cpp read it: no octal 010, no 1:30, no yes and no."""

from __future__ import annotations

import re
from typing import Any

import yaml


class CoreLoader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, list] = {}

    def construct_core_int(self, node: yaml.ScalarNode) -> int:
        text = self.construct_scalar(node)
        return int(text, 0) if text[:2] in ("0x", "0o") else int(text)


for tag, pattern, first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
):
    CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), list(first))
CoreLoader.add_constructor("tag:yaml.org,2002:int", CoreLoader.construct_core_int)


def load(text: str) -> Any:
    return yaml.load(text, Loader=CoreLoader)  # noqa: S506 (a SafeLoader)
