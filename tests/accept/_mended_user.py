"""What a new user meets: the first hour, the command line, statistics, YAML slips, and what an idle worker costs."""

from __future__ import annotations

from _judged_by_tests import Mended, judge
from report import Report

CTL = "tests/live/test_ctl.py"
HOUR = "tests/e2e/test_guides.py"

ITEMS = [
    Mended(
        "c1_first_hour",
        "no way by hand from a build to a ping: no small configuration, no UPF to run",
        pytest=[HOUR],
    ),
    Mended(
        "c2_idle",
        "an idle worker woke every 50 us for ever, 22 % of a core",
        gtest="Yield.*",
        pytest=["tests/e2e/test_power.py::test_the_default_policy_wakes_an_idle_worker_seldom"],
    ),
    Mended(
        "c3_statistics",
        "ctl stats was hundreds of columns wide; bearer list had no drops, ctl card no count of what it serves",
        gtest="CtlStats.*:CtlCard.*:CtlTable.*",
        pytest=[
            f"{CTL}::test_statistics_fit_80_columns_and_have_parts",
            f"{CTL}::test_a_list_of_bearers_shows_what_was_dropped",
            f"{CTL}::test_delete_is_release",
        ],
    ),
    Mended(
        "c5_readme",
        "the README had rates of runs that the bench itself called invalid, and was long",
        pytest=["tests/lint/test_pages.py"],
    ),
    Mended(
        "c3_instances",
        "three ways to name an instance, and a wrong name did not say who runs",
        pytest=[
            f"{CTL}::test_an_instance_is_named_by_i_or_by_the_variable",
            f"{CTL}::test_a_wrong_name_lists_who_runs",
        ],
    ),
    Mended(
        "c3_top_receive",
        "the stages of top were a fifth of the cycles a packet",
        gtest="TopRates.*",
        pytest=[f"{CTL}::test_top_has_receive_as_a_stage_and_the_parts_add_up"],
    ),
    Mended(
        "c3_explain",
        "explain took what the gNB sent for packets that come in, and knew no bearer of a running instance",
        gtest="PcapngDirections.*",
        pytest=[
            f"{CTL}::test_explain_takes_bearers_and_neighbours_of_the_running_instance",
            f"{CTL}::test_explain_says_what_the_gnb_sent_instead_of_taking_it_for_a_packet_that_comes_in",
        ],
    ),
    Mended(
        "c3_icmp",
        "ICMP of a UPF was counted as ipv4_not_udp",
        gtest="N3Parse.*",
    ),
    Mended(
        "c4_completion",
        "no shell completion",
        pytest=[
            f"{CTL}::test_bash_completes_commands_options_and_values",
            f"{CTL}::test_bash_completes_names_of_instances",
            f"{CTL}::test_every_command_and_option_of_the_help_is_completed",
        ],
    ),
    Mended(
        "b5_other_end",
        "gen without its gNB said start failed (Operation not permitted)",
        gtest="OtherEnd.*",
    ),
    Mended(
        "b6_yaml_slips",
        "a TAB or a missing colon was reported on another line in the words of the grammar",
        gtest="YamlSlip.*",
    ),
    Mended(
        "b6_exit_codes",
        "what a running instance refused ended with 1",
        gtest="Cli.*:PowerControl.*",
        pytest=[f"{CTL}::test_bad_input_ends_with_2_and_one_line", f"{CTL}::test_what_is_not_there_is_no_bad_input"],
    ),
]


def items(report: Report) -> None:
    for item in ITEMS:
        judge(report, item)
