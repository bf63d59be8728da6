"""`--log-format json` and `log_format: json`: every line on standard error is one JSON object, DPDK's lines too."""

from __future__ import annotations

import json
import re
import subprocess

from live_gnb import LiveGnb
from paths import splitplane
from processes import PATIENCE

TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")


def lines_of(config, *more: str) -> list[dict]:
    done = subprocess.run(
        [str(splitplane()), "run", str(config), "--duration", "0.3", *more],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout == ""
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert lines
    for line in lines:
        assert list(line)[:3] == ["time", "level", "message"] and TIME.match(line["time"]), line
        assert line["level"] in ("debug", "info", "warning", "error")
    assert [line["time"] for line in lines] == sorted(line["time"] for line in lines)
    return lines


def test_the_option_and_the_key_make_every_line_an_object(folder, processes):
    option = lines_of(LiveGnb(folder, processes).config, "--log-format", "json")
    key = lines_of(LiveGnb(folder, processes, log_format="json").config)
    for lines in (option, key):
        (port,) = [line for line in lines if line.get("port") == "n3"]
        assert port["device"].startswith("net_pcap0,rx_pcap=") and re.fullmatch(
            "([0-9a-f]{2}:){5}[0-9a-f]{2}", port["mac"]
        )
        of_dpdk = [line for line in lines if line.get("source") == "dpdk"]
        assert not any(line["level"] in ("warning", "error") for line in of_dpdk), "a healthy start"
        last = lines[-1]
        assert "every packet is accounted for" in last["message"]
        assert last["received"] == last["transmitted"] > 0


def test_lines_of_dpdk_are_objects_too(folder, processes):
    lines = lines_of(LiveGnb(folder, processes).config, "--log-format", "json", "--log-level", "debug")
    assert any(line.get("source") == "dpdk" for line in lines)


def test_lines_for_people_stay_as_they_were(folder, processes):
    config = LiveGnb(folder, processes, log_format="json").config
    done = subprocess.run(
        [str(splitplane()), "run", str(config), "--duration", "0.3", "--log-format", "human"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert re.search(r"^\d\d:\d\d:\d\d\.\d{3} info port n3: net_pcap0,", done.stderr, re.MULTILINE)
    assert re.search(
        r"^received \d+, transmitted \d+, dropped 0, consumed 0, held 0: every packet is accounted for$",
        done.stderr,
        re.MULTILINE,
    )
