"""`splitplane power`: a worker's policy is shown and switched under traffic, and its core's frequency is taken and
given back, also after a crash. The frequency is that of files in a directory: what they look like is acpi-cpufreq's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from live_gnb import LiveGnb, free_port
from paths import splitplane
from processes import run, wait_until
from scrape import get
from silent_worker import silent_worker

METRIC = "splitplane_worker_policy_info"
LIMITS = {"min_freq": "1200000", "max_freq": "2401000"}
BEFORE = {
    "scaling_driver": "acpi-cpufreq",
    "scaling_available_governors": "userspace performance schedutil",
    "scaling_available_frequencies": "2401000 2400000 1800000 1200000",
    "scaling_governor": "schedutil",
    "scaling_setspeed": "<unsupported>",
    **{f"{kind}_{name}": value for kind in ("cpuinfo", "scaling") for name, value in LIMITS.items()},
}


class FakeCore:
    def __init__(self, root: Path):
        self.root, self.cpu = root, root / "devices/system/cpu/cpu0"
        (self.cpu / "cpufreq").mkdir(parents=True, exist_ok=True)
        (self.cpu / "power").mkdir(exist_ok=True)
        (self.cpu / "power/pm_qos_resume_latency_us").write_text("0\n")
        for name, text in BEFORE.items():
            (self.cpu / "cpufreq" / name).write_text(text + "\n")

    def read(self, name: str) -> str:
        return (self.cpu / name).read_text().partition("\n")[0]


@pytest.fixture(scope="module")
def core(folder) -> FakeCore:
    return FakeCore(folder.resolve() / "sys")


@pytest.fixture(scope="module")
def gnb(folder, processes, core) -> LiveGnb:
    made = LiveGnb(folder, processes, metrics_port=free_port(), sysfs_root=str(core.root))
    made.start()
    return made


def power(*words: object, check: bool = True):
    return run([splitplane(), "power", *words], check=check)


def status(gnb: LiveGnb, over: float = 0) -> dict:
    (worker,) = json.loads(power("status", gnb.config, "--json", "--over", over).stdout)["workers"]
    return worker


def test_a_policy_changes_under_traffic_and_status_and_metrics_name_it(gnb):
    assert status(gnb)["policy"]["kind"] == "yield"
    for kind, settings in (("busy", {}), ("budget", {"latency_us": 20, "spin_us": 0}), ("paper", {"max_packets": 128})):
        received = gnb.stats()["workers"][0]["received"]
        power("set", gnb.config, "w0", kind, *(f"--set={key}={value}" for key, value in settings.items()))
        worker = status(gnb)
        assert worker["policy"]["kind"] == kind
        assert {key: worker["policy"][key] for key in settings} == settings
        (named,) = [line for line in get(gnb.metrics_port)[0].splitlines() if line.startswith(METRIC)]
        assert named == f'{METRIC}{{worker="w0",kind="{kind}"}} 1'
        wait_until("traffic goes on", lambda before=received: gnb.stats()["workers"][0]["received"] > before + 10_000)
    assert gnb.stats()["totals"]["balanced"]


def test_status_for_people_has_shares_settings_and_state(gnb):
    power("set", gnb.config, "w0", "budget", "--set", "latency_us=33")
    text = power("status", gnb.config, "--over", "0.3").stdout
    assert "w0: budget, " in text and "latency_us 33" in text
    assert "interrupts: none from net_pcap0 queue 0" in text
    assert "by acpi-cpufreq" in text
    worker = status(gnb, over=0.3)
    share = worker["share"]
    assert sum(share.values()) == pytest.approx(1, abs=0.01)
    assert share["busy"] > 0.5, "the port always has packets"
    assert 0 < worker["cpu_share"] <= 1


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("w9", "busy"), 2, "there is no 'w9'; allowed: w0"),
        (("w0", "budgte"), 2, "did you mean 'budget'?"),
        (("w0", "budget", "--set", "latency_us=0"), 2, "latency_us: '0'; allowed: an integer from 1 to 100000"),
        (("w0", "busy", "--set", "latency_us=1"), 2, "no setting of policy busy; allowed: none"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_changes(gnb, words, code, says):
    before = status(gnb)["policy"]
    done = power("set", gnb.config, *words, check=False)
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr and done.stderr.count("\n") == 1
    assert status(gnb)["policy"] == before


def test_the_frequency_is_the_workers_while_its_policy_sets_it(gnb, core):
    power("set", gnb.config, "w0", "budget", "--set", "latency_us=40")
    assert core.read("cpufreq/scaling_governor") == "userspace"
    assert core.read("power/pm_qos_resume_latency_us") == "40"
    governor = status(gnb)["governor"]
    assert (governor["driver"], governor["p_states"], governor["turbo"]) == ("acpi-cpufreq", 4, True)
    assert core.read("cpufreq/scaling_setspeed") == str(governor["khz"][governor["p_state"]])
    power("set", gnb.config, "w0", "paper")
    assert core.read("power/pm_qos_resume_latency_us") == "0"
    assert core.read("cpufreq/scaling_governor") == "userspace"
    power("set", gnb.config, "w0", "busy")
    assert core.read("cpufreq/scaling_governor") == "schedutil"
    assert status(gnb)["governor"] is None


@pytest.mark.parametrize(
    ("kind", "says"),
    [("paper", "it never sleeps"), ("l3fwd", "it polls at full speed"), ("budget", "it sleeps for short times only")],
)
def test_the_log_says_what_a_policy_does_where_packets_cannot_wake_it(gnb, kind, says):
    line = f"worker w0: no interrupt from net_pcap0 queue 0, net_null0 queue 0: {says}"
    before = gnb.instance.process.log.read_text().count(line)
    power("set", gnb.config, "w0", kind)
    wait_until("its line", lambda: gnb.instance.process.log.read_text().count(line) == before + 1)


@pytest.mark.parametrize(("before", "after"), [("budget", "paper"), ("yield", "budget")])
def test_of_a_worker_that_does_not_answer_policy_and_core_stay_as_they_were(gnb, core, before, after):
    names = ("cpufreq/scaling_governor", "power/pm_qos_resume_latency_us")
    power("set", gnb.config, "w0", before)
    values = [core.read(name) for name in names]
    with silent_worker(gnb.instance.process):
        done = power("set", gnb.config, "w0", after, check=False)
        assert done.returncode == 1
        assert "worker w0 does not answer; its policy stays as it was" in done.stderr
        assert [core.read(name) for name in names] == values
    assert status(gnb)["policy"]["kind"] == before


def left(core: FakeCore) -> dict[str, bool]:
    """What `power restore` finds of this tree, and not of the machine's or another test's: whether it is in use."""
    found = json.loads(power("restore", "--json", check=False).stdout)
    rows = [row for row in found if row["root"] == str(core.root)]
    assert all(row["refused"] == [] for row in rows)
    return {row["name"].rpartition(".")[0]: row["in_use"] for row in rows}


def test_what_a_crash_left_is_given_back_by_restore(gnb, core):
    power("set", gnb.config, "w0", "budget")
    assert left(core) == {"cpu0.frequency": True, "cpu0.latency": True}
    assert core.read("cpufreq/scaling_governor") == "userspace"
    gnb.instance.process.child.kill()
    wait_until("its locks are free", lambda: left(core) == {"cpu0.frequency": False, "cpu0.latency": False})
    assert core.read("cpufreq/scaling_governor") == "schedutil"
    assert core.read("power/pm_qos_resume_latency_us") == "0"
    assert left(core) == {}
    gnb.start()  # and the next run begins as if nothing had been
    assert status(gnb)["policy"]["kind"] == "yield"
    assert left(core) == {}
