"""Watts of a running gNB on a tree of files like /sys: what is measured and what is modelled have different names, a
sensor that fails says so, and what a killed instance had set comes back."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

import configs
import pytest
from instance import Instance
from paths import CONFIG, splitplane
from processes import PATIENCE, run, wait_until
from test_card_control import free_port

PREFERENCE = "devices/system/cpu/cpu0/cpufreq/energy_performance_preference"


class Sysfs:
    """Package 0 with RAPL, and core 0 with intel_pstate in active mode."""

    def __init__(self, root: Path):
        self.root = root
        rapl = {"name": "package-0", "energy_uj": "0", "max_energy_range_uj": "262143328850"}
        self.write("class/powercap/intel-rapl:0", rapl)
        cpu = "devices/system/cpu/cpu0"
        self.write(f"{cpu}/topology", {"physical_package_id": "0", "core_id": "0", "thread_siblings_list": "0"})
        self.write(f"{cpu}/power", {"pm_qos_resume_latency_us": "0"})
        idle = {"time": "0", "usage": "0"}
        self.write(f"{cpu}/cpuidle/state0", {"name": "C1", **idle})
        self.write(f"{cpu}/cpuidle/state1", {"name": "C6", **idle})
        self.write(
            f"{cpu}/cpufreq",
            {
                "scaling_driver": "intel_pstate",
                "scaling_available_governors": "performance powersave",
                "scaling_governor": "powersave",
                "energy_performance_preference": "balance_performance",
                "energy_performance_available_preferences": "default performance balance_performance power",
                "scaling_cur_freq": "2000000",
                **{f"{kind}_min_freq": "800000" for kind in ("cpuinfo", "scaling")},
                **{f"{kind}_max_freq": "3700000" for kind in ("cpuinfo", "scaling")},
            },
        )

    def write(self, folder: str, files: dict[str, str]) -> None:
        (self.root / folder).mkdir(parents=True, exist_ok=True)
        for name, value in files.items():
            (self.root / folder / name).write_text(value + "\n")

    def use(self, joules: float) -> None:
        self.write("class/powercap/intel-rapl:0", {"energy_uj": str(round(joules * 1e6))})


@pytest.fixture
def sysfs(processes):
    with tempfile.TemporaryDirectory(prefix="sp-sys-") as place:
        yield Sysfs(Path(place) / "sys")
        processes.stop_all()  # before the tree goes: an instance that ends gives back what it set


def tree(name: str, sysfs: Sysfs, power: dict, **worker: object) -> dict:
    return {
        "file_prefix": configs.prefix(name),
        "control": configs.control(name),
        "journal": "none",
        "sysfs_root": str(sysfs.root),
        "memory": {"megabytes": 64, "mbufs": 2047, "hugepages": "never"},
        "ports": {"p": {"device": "net_null0,no-rx=1"}},
        "workers": {"w0": {"function": "l2fwd", "core": 0, "rx": "p", "tx": "p", **worker}},
        "power": power,
    }


def scrape(port: int) -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE) as answer:
        lines = answer.read().decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


def test_what_is_measured_and_what_is_modelled_stand_side_by_side(processes, folder, sysfs):
    port = free_port()
    power = {"sensor": "auto", "profile": str(CONFIG / "power" / "xeon-assumed.yaml")}
    made = tree("watts", sysfs, power) | {"metrics": {"listen": f"127.0.0.1:{port}"}}
    gnb = Instance(processes, "watts", "run", configs.write(folder, "watts", made))
    measured = 'splitplane_power_watts{source="rapl",scope="package",name="package-0"}'
    modelled = 'splitplane_modelled_power_watts{profile="xeon-assumed",edge="%s"}'

    def both() -> bool:
        sysfs.use(100 * time.monotonic() % 1000)
        return {measured, modelled % "low"} <= scrape(port).keys()

    wait_until("watts of both kinds", both, processes=[gnb.process])
    wait_until("a modelled value", lambda: scrape(port)[modelled % "estimate"] > 0, processes=[gnb.process])
    seen = scrape(port)
    assert seen[measured] >= 0
    assert 185 / 2 < seen[modelled % "low"] < seen[modelled % "estimate"] < seen[modelled % "high"]
    shown = run([splitplane(), "power", "status", "--over", "0", gnb.config]).stdout
    assert "measured: by rapl" in shown
    assert "not acpi: no chip power_meter" in shown
    assert re.search(r"modelled: \d+\.\d W, ", shown)
    assert "2000 MHz by scaling_cur_freq" in shown

    (sysfs.root / "class/powercap/intel-rapl:0/energy_uj").unlink()
    wait_until("the sensor's failure", lambda: measured not in scrape(port), processes=[gnb.process])
    assert scrape(port)['splitplane_power_sensor_errors_total{source="rapl"}'] > 0
    meter = gnb.control.call("power.show")["meter"]
    assert "energy_uj: No such file" in meter["error"]
    assert meter["measured"][0]["watts"] is None


@pytest.mark.parametrize(
    ("power", "reason"),
    [
        ({"sensor": "acpi"}, "sensor acpi: no chip power_meter"),
        ({"sensor": "command:exit 3"}, "sh ended with status 3"),
        ({"profile": "/nowhere/profile.yaml"}, "/nowhere/profile.yaml"),
        ({"uncore_mhz": 1500}, "power.uncore_mhz: no die of package 0"),
    ],
)
def test_what_was_chosen_and_is_not_there_stops_the_start(folder, sysfs, power, reason):
    path = configs.write(folder, "chosen", tree("chosen", sysfs, power))
    done = run([splitplane(), "run", path], check=False)
    assert done.returncode != 0
    assert reason in done.stderr


def test_a_preference_that_a_killed_instance_had_set_comes_back(processes, folder, sysfs):
    made = tree("killed", sysfs, {"governor": "epp"}, policy="paper")
    gnb = Instance(processes, "killed", "run", configs.write(folder, "killed", made))

    def preference() -> str:
        """A file of sysfs has what was written last; here what was there before may follow it."""
        return (sysfs.root / PREFERENCE).read_text().partition("\n")[0]

    wait_until("the governor", lambda: preference() in ("performance", "power"), processes=[gnb.process])
    gnb.process.child.kill()
    gnb.process.child.wait()
    run([splitplane(), "power", "restore"])  # or an instance that another test starts meanwhile
    assert preference() == "balance_performance"


def test_sensors_lists_what_there_is_and_shows_a_profile(sysfs):
    shown = run([splitplane(), "power", "sensors", "--sysfs-root", sysfs.root, "--json"]).stdout
    sensors = {each["source"]: each for each in json.loads(shown)["sensors"]}
    assert sensors["rapl"]["readings"][0]["watts"] == 0
    assert "power_meter" in sensors["acpi"]["why_not"]


@pytest.mark.parametrize("profile", sorted((CONFIG / "power").glob("*.yaml")), ids=lambda path: path.stem)
def test_each_profile_can_be_read(profile, sysfs):
    shown = run([splitplane(), "power", "sensors", "--sysfs-root", sysfs.root, "--profile", profile]).stdout
    assert f"profile {profile.stem}, of the system" in shown
    assert "assumed: " in shown


def test_calibrate_prints_costs_that_replay_takes():
    """Not how large they are: the machine is busy with other tests."""
    shown = run([splitplane(), "power", "calibrate"]).stdout
    words = shown.strip().splitlines()[-1].split()
    assert {"--cost", *(word for word in words if word.startswith("system_call="))} <= set(words)
    run([splitplane(), "power", "replay", "--duration", "1", "--policy", "budget", *words])


def test_calibrate_fits_a_profile_to_a_sensor(folder):
    """The sensor counts the threads of the program: the fit has to find its 5 W each."""
    out = folder / "fitted.yaml"
    sensor = "command:echo $((40 + 5 * $(ls /proc/$PPID/task | wc -l)))"
    words = ["--sensor", sensor, "--settle", "0.1", "--mean", "0.4", "--cores", "2"]
    run([splitplane(), "power", "calibrate", "--fit", out, *words])
    text = out.read_text()
    assert float(re.search(r"^active_watts: (\S+)$", text, re.MULTILINE)[1]) == pytest.approx(5, abs=0.5)
    assert float(re.search(r"^base_watts: (\S+)$", text, re.MULTILINE)[1]) == pytest.approx(45, abs=0.5)
    refused = run([splitplane(), "power", "calibrate", "--fit", out, "--sensor", "acpi"], check=False)
    if refused.returncode:
        assert "power_meter" in refused.stderr


def test_calibrate_takes_a_workers_loop_from_a_running_instance(processes, folder, sysfs):
    gnb = Instance(
        processes, "loop", "run", configs.write(folder, "loop", tree("loop", sysfs, {"sensor": "none"}, policy="busy"))
    )
    done = subprocess.run(
        [splitplane(), "power", "calibrate", "--json", "--over", "0.5", gnb.config],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    costs = json.loads(done.stdout)
    assert costs["poll"]["ns"] > 0
    assert costs["packet"]["ns"] is None
