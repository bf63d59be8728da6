"""`make accept PART=operate`, what one looks at: top, metrics, telemetry, logs, and bad input on the control socket."""

from __future__ import annotations

import statistics
import sys

from _tools import PYTHON, ROOT, last_line, run, say
from report import Report

TESTS = {
    "top_in_a_terminal_80x24_and_140x50": "test_top.py",
    "prometheus_scrapes_every_documented_metric": "test_metrics.py",
    "rte_telemetry_tree": "test_telemetry.py",
    "logs_json": "test_log_json.py",
}
ROUNDS, SECONDS = 5, 3


def tests(report: Report) -> None:
    for name, file in TESTS.items():
        say(f"live: {name}")
        status, output, _ = run([PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/live/{file}"], 180)
        line = last_line(output)
        if status == 0 and "skipped" in line:
            report.skip(name, "every test passes", line)
        else:
            report.judge(name, line, "every test passes", status == 0, line)


def bad_control_input(report: Report) -> None:
    say("live: 100 clients with bad input on the control socket, beside traffic")
    sys.path[:0] = [str(ROOT / "tests" / "live"), str(ROOT / "tests" / "demo")]
    import attack
    from processes import Processes

    folder = ROOT / "out" / "live" / "accept"
    folder.mkdir(parents=True, exist_ok=True)
    processes = Processes(folder)
    try:
        gnb = attack.target(folder, processes)
        gnb.start()
        attack.watch(gnb, 1, 0)
        # In turns, so that what else the machine does meets both alike.
        pairs = [(attack.watch(gnb, SECONDS, 0), attack.watch(gnb, SECONDS, attack.CLIENTS)) for _ in range(ROUNDS)]
        code = gnb.stop()
    finally:
        processes.stop_all()
    quiet, attacked = ([pair[side] for pair in pairs] for side in (0, 1))
    done = {name: sum(cost.attacks[name] for cost in attacked) for name in attack.NAMES}
    least = ROUNDS * attack.CLIENTS // len(attack.BEHAVIOURS)
    report.judge(
        "bad_control_attacks", min(done.values()), f">={least}_of_each", min(done.values()) >= least, str(done)
    )
    grown = max(cost.resident_bytes for cost in attacked) - quiet[0].resident_bytes
    report.at_most("bad_control_memory_growth", grown / (1 << 20), 64, "MiB")
    report.at_most("bad_control_slowest_answer_to_others", max(cost.slowest_ping for cost in attacked), 1.0, "s")
    for name, of in {
        "bad_control_packet_rate_ratio": lambda cost: cost.packets_per_second,
        "bad_control_packets_per_worker_cpu_second_ratio": lambda cost: cost.packets_per_cpu_second,
    }.items():
        base, rate = (statistics.median(map(of, side)) for side in (quiet, attacked))
        shares = [statistics.median(cost.core_share for cost in side) for side in (quiet, attacked)]
        reason = (
            f"median {base * 1e-6:.2f} M without, {rate * 1e-6:.2f} M with {attack.CLIENTS} attackers; the worker got "
            f"{shares[0]:.0%} and {shares[1]:.0%} of its core"
        )
        report.at_least(name, rate / base, 0.95, reason=reason)
    dropped = sum(cost.dropped for cost in attacked)
    report.judge("bad_control_packets_lost", dropped, "0", dropped == 0, f"{dropped} dropped" if dropped else "")
    report.judge(
        "bad_control_accounts_balance", f"exit_{code}", "exit_0", code == 0, "" if code == 0 else "see out/live/accept"
    )


def items(report: Report) -> None:
    tests(report)
    bad_control_input(report)
