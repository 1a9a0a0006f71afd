"""Prints the figures of docs/performance.md, all of them or those that are named."""

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from benchmarks import (
    admission,
    admission_function,
    admission_latency,
    blocks,
    charts,
    churn,
    cold,
    hostile,
    imports,
    installation_latency,
    installations,
    kubelet_certificates,
    latency,
    live,
    managed_cold,
    managed_drift,
    managed_steady,
    managed_stuck,
    merge,
    planner,
    registration,
    rsyslog_admission,
    rsyslog_cold,
    rsyslog_relp,
    simulation,
    start_up,
    steady,
    token_requests,
    unrelated_secrets,
    whole_process,
)
from benchmarks.figures import Figure
from benchmarks.launch import SPEED_EXTRAS, Command

Measurement: TypeAlias = Callable[[Command], Iterator[Figure]]

MEASUREMENTS: Final[dict[str, Measurement]] = {
    "imports": lambda _command: imports.measure(),
    "planner": lambda _command: planner.measure(),
    "registration": lambda _command: registration.measure(),
    "admission-function": lambda _command: admission_function.measure(),
    "admission": admission.measure,
    "admission-latency": admission_latency.measure,
    "start-up": start_up.measure,
    "cold": cold.measure,
    "live": live.measure,
    "latency": latency.measure,
    "steady": steady.measure,
    "secrets": unrelated_secrets.measure,
    "churn": churn.measure,
    "merge": lambda _command: merge.measure(),
    "managed-resources-cold": managed_cold.measure,
    "managed-resources-steady": managed_steady.measure,
    "managed-resources-stuck": managed_stuck.measure,
    "managed-resources-drift": managed_drift.measure,
    "managed-resources-large": managed_cold.measure_large,
    "token-requests": token_requests.measure,
    "rsyslog-relp": lambda _command: rsyslog_relp.measure(),
    "rsyslog-relp-admission": rsyslog_admission.measure,
    "rsyslog-relp-cold": rsyslog_cold.measure,
    "charts": lambda _command: charts.measure(),
    "installations": installations.measure,
    "installation-latency": installation_latency.measure,
    "simulation": lambda _command: simulation.measure(),
    "kubelet-certificates": kubelet_certificates.measure,
    "whole-process": whole_process.measure,
    "hostile": hostile.measure,
    "blocks": blocks.measure,
}


def main() -> None:
    """Measure what was asked for, one after the other."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("figures", nargs="*", help=f"{', '.join(MEASUREMENTS)}; none: all of them")
    parser.add_argument(
        "--without-speed-extras", action="store_true", help=f"processes run as if without {' and '.join(SPEED_EXTRAS)}"
    )
    parser.add_argument("--profiles", type=Path, metavar="FOLDER", help="processes run, slower, under a profiler")
    parser.add_argument("--load", action="append", choices=hostile.LOADS, help="only this load of hostile; repeatable")
    parser.add_argument("--seconds", type=int, default=hostile.SECONDS, help="how long the loads of hostile last")
    options = parser.parse_args()
    if unknown := set(options.figures) - MEASUREMENTS.keys():
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    if options.profiles:
        options.profiles.mkdir(parents=True, exist_ok=True)
    command = Command(not options.without_speed_extras, options.profiles and options.profiles.resolve())
    print(f"{_circumstances()}; processes run {command}", flush=True)
    measurements = dict(MEASUREMENTS)
    measurements["hostile"] = partial(hostile.measure, loads=options.load or (), seconds=options.seconds)
    for name in options.figures or measurements:
        _report(name, measurements[name], command)


def _report(name: str, measure: Measurement, command: Command) -> None:
    began = time.monotonic()
    print(name)
    for figure in measure(command):
        print(figure, flush=True)
    print(f"  (measured in {time.monotonic() - began:.0f} s)", flush=True)


def _circumstances() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} processors, {memory:.0f} GiB, load {os.getloadavg()[0]:.1f}, "
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    )


if __name__ == "__main__":
    main()
