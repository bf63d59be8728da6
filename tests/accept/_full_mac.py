"""What MAC costs with each scheme, hot and cold, beside the paper's figures; what it survives, and what tshark says."""

from __future__ import annotations

import statistics

from _judged_by_tests import Mended, judge
from _tools import ROOT, quiet_results, say
from report import Report

BENCH = ROOT / "build" / "release" / "bench" / "mac_bench"
COPYING = ("chain", "chain_linearize")
MILLION = "1000000"

TESTS = (
    Mended(
        "mac_searches_counted",
        shows="mbufs walked: N(N-1)/2 for chain, N-1 for chain-linearize, by a walk of our own and by the counter",
        gtest="AnyChain/*.searches_the_list_as_often_as_the_paper_says",
    ),
    Mended(
        "mac_million_mutations",
        shows="no crash, each octet of each block accounted for",
        gtest="MacMutation.*",
        environment={"SPLITPLANE_MUTATIONS": MILLION},
    ),
    Mended(
        "mac_bad_blocks_counted",
        shows="blocks cut at each octet, subheaders that overrun, unknown LCIDs: a counter each",
        gtest="Demux.*:MacMutation.truncations_and_each_first_octet",
    ),
    Mended(
        "mac_small_grants_and_padding",
        shows="grants of 0, 1, 2 octets; padding is zero in memory that was full of other octets",
        gtest="AnyDownlink/*.grants_of_0_1_and_2_octets:AnyScheme/*.grants_of_few*:AnyScheme/*.padding_is_zero*",
    ),
    Mended(
        "mac_ciphering_same_octets",
        shows="blocks ciphered while they are gathered are those of SDUs ciphered before, at each cut of an SDU",
        gtest="CipheringFixture.*:*OnImplementation.begins_at_any_block_of_the_key_stream_of_nea2*",
    ),
    Mended(
        "mac_tshark",
        shows="LCIDs, lengths, SDUs, control elements, padding and RLC numbers of built blocks",
        pytest=["tests/oracle/test_mac_blocks.py"],
    ),
)


class Figures:
    """Medians over the repeats, by axis ("sdus": N at 5,000 octets; "octets": the size at N = 20), place and way."""

    def __init__(self, results: list[dict]) -> None:
        self.results = results

    def places(self, axis: str) -> list[int]:
        return [row[axis] for row in self.results[0][axis]]

    def ns(self, axis: str, place: int, state: str, way: str) -> float:
        at = self.places(axis).index(place)
        return statistics.median(result[axis][at][state][way]["ns"] for result in self.results)

    def row(self, axis: str, place: int) -> dict:
        return self.results[0][axis][self.places(axis).index(place)]

    def plain(self, group: str, name: str) -> float:
        return statistics.median(result[group][name]["ns"] for result in self.results)

    def against_best(self, axis: str, state: str) -> dict[int, float]:
        """Cost of gather by that of the better scheme of the paper, at each place."""
        return {
            place: self.ns(axis, place, state, "gather") / min(self.ns(axis, place, state, way) for way in COPYING)
            for place in self.places(axis)
        }


def cost(report: Report, figures: Figures, doubt: str) -> None:
    scheme_1, scheme_2, ours = (figures.ns("sdus", 100, "hot", way) for way in (*COPYING, "gather"))
    text = f"gather {ours:.0f} ns, scheme 2 {scheme_2:.0f} ns; {doubt}"
    report.at_most("mac_gather_by_scheme_2_at_100_hot", ours / scheme_2, 0.7, "", text)
    for state, limit in (("hot", 1.05), ("cold", 1.25)):
        for axis in ("sdus", "octets"):
            ratios = figures.against_best(axis, state)
            worst = max(ratios, key=lambda place: ratios[place])
            text = f"worst at {worst} {axis}; {' '.join(f'{p}:{r:.2f}' for p, r in ratios.items())}; {doubt}"
            report.at_most(f"mac_gather_by_best_other_{axis}_{state}", ratios[worst], limit, "", text)
    for name in ("same100", "mixed100"):
        cold = f"{figures.plain('demux', f'{name}.cold'):.3g} ns cold; {doubt}"
        report.at_most(f"mac_demux_{name}", figures.plain("demux", name), 8, "ns", cold)
    for name, group, one, other in (
        ("mac_ciphering_in_one_pass", "nea2_1500", "one_pass", "two_passes"),
        ("mac_slot_as_batch_cold", "slot_of_64", "batch.cold", "one_by_one.cold"),
    ):
        costs = figures.plain(group, one), figures.plain(group, other)
        text = f"{costs[0]:.3g} ns against {costs[1]:.3g} ns; {doubt}"
        report.at_most(name, costs[0] / costs[1], 1.0, "", text)
    gain = 100 * (1 - scheme_2 / scheme_1)
    report.judge(
        "mac_paper_figure_8",
        f"scheme 2 {gain:.0f} % faster at N = 100; direction holds: {'yes' if gain > 0 else 'no'}",
        "stated beside the paper's 37 %",
        True,
        f"the paper: alike up to 50 SDUs; {crossing(figures)}; {doubt}",
    )
    spread = [
        figures.ns("octets", place, "hot", "chain_linearize") / figures.ns("octets", place, "hot", "chain")
        for place in figures.places("octets")
    ]
    growth = figures.ns("octets", 60000, "hot", "chain") / figures.ns("octets", 500, "hot", "chain")
    report.judge(
        "mac_paper_figure_9",
        f"scheme 2 by scheme 1: {min(spread):.2f} to {max(spread):.2f}; 60,000 octets by 500: {growth:.1f}",
        "stated beside the paper's 'little difference'",
        True,
        f"direction holds: {'yes' if max(spread) < 1.25 and min(spread) > 0.8 else 'no'}; {doubt}",
    )


def crossing(figures: Figures) -> str:
    better = [
        place
        for place in figures.places("sdus")
        if figures.ns("sdus", place, "hot", "chain_linearize") < figures.ns("sdus", place, "hot", "chain")
    ]
    return f"ours: scheme 2 is faster at N = {', '.join(map(str, better)) or 'none'}"


def counts(report: Report, figures: Figures) -> None:
    wrong = []
    for axis in ("sdus", "octets"):
        for place in figures.places(axis):
            row = figures.row(axis, place)
            n, searched, copied = row["sdus"], row["searched"], row["copied"]
            told = {"chain": n * (n - 1) // 2, "chain_linearize": n - 1, "gather": 0, "iov": 0}
            if searched != told or copied["iov"] != 0 or not copied["gather"] <= copied["chain"] <= row["octets"]:
                wrong.append(f"{axis} {place}")
    row = figures.row("sdus", 100)
    text = f"at N = 100: searched {row['searched']}, octets copied {row['copied']}"
    report.judge("mac_counts_of_the_bench", len(wrong), "0 rows differ", not wrong, text)


def items(report: Report) -> None:
    say("cost of MAC")
    results, doubt = quiet_results(BENCH, 300)
    if results:
        figures = Figures(results)
        cost(report, figures, doubt)
        counts(report, figures)
        lost = max(result["mbufs_lost"] for result in results)
        report.judge("mac_bench_mbufs_lost", lost, "0", lost == 0, "buffers did not return" if lost else "")
    else:
        report.judge("mac_cost", "none", "mac_bench runs", False, doubt)
    for test in TESTS:
        judge(report, test)
