"""ECN marks over the whole path: an air of a limited rate in the kernel, real TCP with ECN, and a probe flow that finds
what the queue costs. `make accept PART=pdcp` measures the same for longer."""

from __future__ import annotations

import ecn_rates
import pytest
from checks import Checks, check_workers
from ecn_rates import MARKED, MBIT, PLAIN, RAMP, SECURED, EcnBed, measure
from paths import own
from testbed import assert_passed


@pytest.fixture(scope="module")
def bed():
    folder = own("e2e") / "ecn"
    folder.mkdir(parents=True, exist_ok=True)
    with EcnBed(folder, "ecn") as made:
        made.begin()
        yield made


@pytest.fixture(scope="module")
def without(bed):
    return measure(bed, PLAIN, "cubic", 2)


def assert_accounted_for(bed: EcnBed):
    checks = Checks()
    for name, instance in (("gNB", bed.gnb), ("UE", bed.ues[0])):
        check_workers(checks, name, instance.control.stats())
    assert_passed(checks)


def test_without_marks_the_queue_is_long(bed, without):
    """Otherwise the others show nothing."""
    assert without.ecn and without.marked == 0
    assert without.mbit > 0.8 * MBIT
    assert without.p99_ms > 100, without


@pytest.mark.parametrize("number", [MARKED, SECURED], ids=["plain", "secured"])
def test_cubic_keeps_the_queue_short_and_the_rate(bed, without, number):
    with_marks = measure(bed, number, "cubic", 2)
    assert with_marks.ecn and with_marks.marked > 0
    assert with_marks.p99_ms < without.p99_ms / 2, (with_marks, without)
    assert with_marks.mbit > 0.85 * without.mbit, (with_marks, without)
    counters = bed.counters(number)
    assert counters["marked_ect1"] == 0 < counters["marked_ect0"] < counters["ect0"] / 5
    total = sum(bed.counters(n)["marked_ect0"] + bed.counters(n)["marked_ect1"] for n in (MARKED, SECURED, RAMP))
    assert bed.gnb.control.stats()["workers"][0]["ecn_marked"] == total
    assert_accounted_for(bed)


@pytest.mark.parametrize("number", [MARKED, RAMP], ids=["step", "ramp"])
def test_a_scalable_sender_keeps_the_queue_shorter(bed, without, number):
    before = bed.counters(number)
    with_marks = measure(bed, number, "scalable", 2)
    after = bed.counters(number)
    assert after["marked_ect1"] > before["marked_ect1"] and after["marked_ect0"] == before["marked_ect0"]
    assert with_marks.p99_ms < without.p99_ms / 4, (with_marks, without)
    assert with_marks.mbit > 0.7 * without.mbit, (with_marks, without)
    assert_accounted_for(bed)


def test_a_probe_that_cannot_react_is_never_marked(bed):
    """The probes carry no ECT: they passed both queues, and only packets with ECT are counted."""
    before = bed.counters(RAMP)
    probe = ecn_rates.Probe(bed, ecn_rates.address(RAMP))
    found = probe.stop()
    assert found
    assert bed.counters(RAMP)["ect0"] == before["ect0"] and bed.counters(RAMP)["ect1"] == before["ect1"]
