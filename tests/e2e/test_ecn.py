"""ECN marks over the whole path: an air of a limited rate in the kernel, real TCP with ECN, and a probe flow that finds
what the queue costs. `make accept PART=pdcp` measures the same for longer."""

from __future__ import annotations

import pytest
from checks import Checks, check_workers
from ecn_rates import MARKED, MBIT, PLAIN, PROBE_EVERY_S, SECURED, EcnBed, measure
from paths import own
from testbed import assert_passed

SECONDS = 1.8


@pytest.fixture(scope="module", params=["inline", pytest.param("process", marks=pytest.mark.nightly)])
def bed(request):
    name = f"ecn-{request.param}"
    folder = own("e2e") / name
    folder.mkdir(parents=True, exist_ok=True)
    with EcnBed(folder, name, request.param) as made:
        made.begin()
        yield made


def best(bed, bearer: int, sender: str, is_good):
    """What else runs on the machine only makes a queue longer and a rate lower: the first of three that is good, or
    the last."""
    for _ in range(3):
        found = measure(bed, bearer, sender, SECONDS)
        if is_good(found):
            break
    return found


@pytest.fixture(scope="module")
def without(bed):
    return best(bed, PLAIN, "cubic", lambda found: found.mbit > 0.7 * MBIT and found.p99_ms > 100)


def assert_accounted_for(bed: EcnBed):
    checks = Checks()
    for name, instance in (("gNB", bed.gnb), ("UE", bed.ues[0])):
        check_workers(checks, name, instance.control.stats())
    assert_passed(checks)


def test_without_marks_the_queue_is_long(bed, without):
    """Otherwise the others show nothing."""
    assert without.ecn and without.marked == 0
    assert without.mbit > 0.7 * MBIT
    assert without.p99_ms > 100, without


def test_cubic_keeps_the_queue_short_and_the_rate(bed, without):
    """On a secured bearer: CE is set before PDCP ciphers the packet."""
    with_marks = best(
        *(bed, SECURED, "cubic"), lambda found: found.p99_ms < without.p99_ms / 2 and found.mbit > 0.8 * without.mbit
    )
    assert with_marks.ecn and with_marks.marked > 0
    assert with_marks.p99_ms < without.p99_ms / 2, (with_marks, without)
    assert with_marks.mbit > 0.8 * without.mbit, (with_marks, without)
    counters = bed.counters(SECURED)
    assert counters["marked_ect1"] == 0 < counters["marked_ect0"] < counters["ect0"] / 5
    assert bed.gnb.control.stats()["workers"][0]["ecn_marked"] == bed.marked()
    assert_accounted_for(bed)


def test_a_scalable_sender_keeps_the_queue_shorter(bed, without):
    """The probes, which carry no ECT, are not among those that could be marked."""
    with_marks = best(
        *(bed, MARKED, "scalable"), lambda found: found.p99_ms < without.p99_ms / 4 and found.mbit > 0.7 * without.mbit
    )
    counters = bed.counters(MARKED)
    assert counters["marked_ect1"] > 0 == counters["ect0"]
    assert counters["ect1"] < bed.show(MARKED)["downlink"]["received"] - SECONDS / PROBE_EVERY_S / 2
    assert with_marks.p99_ms < without.p99_ms / 4, (with_marks, without)
    assert with_marks.mbit > 0.7 * without.mbit, (with_marks, without)
    assert_accounted_for(bed)
