"""Governors, sensors, meter and model on trees of files like sysfs: judged by their tests. No hardware of this kind is
here, so nothing shows that a real machine's files are like these."""

from __future__ import annotations

from _judged_by_tests import Mended, judge
from report import Report

WATTS = "tests/e2e/test_watts.py"
FILES = "on trees of files, not on hardware"

ITEMS = (
    Mended(
        "watts_files_governors",
        shows=f"cpufreq, EPP, uclamp, uncore, none: refused, vanished, odd frequencies, cores of one clock; {FILES}",
        gtest="Epp.*:Uclamp.*:NoGovernor.*:Uncore.*:Frequencies.*:Governor.*",
    ),
    Mended(
        "watts_files_rte_power",
        shows="NULL function pointers are not called, odd lists are refused; with a stand-in for the library",
        gtest="RtePower.*",
    ),
    Mended(
        "watts_files_restore",
        shows=f"what a crash left is given back, a living owner's is not, a line cut short changes nothing; {FILES}",
        gtest="Loan.*:Epp.what_a_kill*:RtePower.what_a_kill*",
        pytest=[f"{WATTS}::test_a_preference_that_a_killed_instance_had_set_comes_back"],
    ),
    Mended(
        "watts_files_sensors",
        shows=f"ACPI, RAPL, AMD, IPMI, a file, a command: missing permission, vanished file, odd contents; {FILES}",
        gtest="AcpiMeter.*:Rapl.*:AmdEnergy.*:Ipmi.*:External.*:RunCommand.*:ChooseSource.*",
    ),
    Mended(
        "watts_files_counters",
        shows=f"wraps are counted over the end of the range, a reset says nothing once, means of 20 s; {FILES}",
        gtest="EnergyCounter.*:Average.*:PowerSupply.*",
    ),
    Mended(
        "watts_files_cores",
        shows=f"APERF and MPERF, C-states, two packages and second threads; {FILES}",
        gtest="CoreFrequency.*:CStates.*:Topology.*:Residency.*",
    ),
    Mended(
        "watts_files_model",
        shows="NaN outside of the range with a reason, the band, and no sensor is replaced by the model",
        gtest="Profile.*:ProfileFile.*:Meter.*",
    ),
    Mended(
        "watts_files_calibrate",
        shows="costs add up to what was measured, a fit gives back what its points were made of",
        gtest="Costs.*:LoopCosts.*:Fit.*:Sweep.*",
    ),
    Mended(
        "watts_files_running",
        shows=f"a running gNB: measured and modelled side by side, a start that is refused, calibrate; {FILES}",
        pytest=[WATTS],
    ),
)


def items(report: Report) -> None:
    for item in ITEMS:
        judge(report, item)
