"""Statistics of rsyslogd as Prometheus metrics: what `process-rsyslog-pstats.sh` writes on a node.

The table of metrics is the script's; `textfiles` says what the script has to write.

Source: rsyslog-relp §10; decision D-14.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

PREFIX: Final = "rsyslog_pstat_"
MARKER: Final = "rsyslogd-pstats: "


class Metric(NamedTuple):
    """The type and the meaning of a metric."""

    type: str
    help: str


METRICS: Final[Mapping[str, Metric]] = {
    "submitted": Metric("counter", "Number of messages submitted."),
    "processed": Metric("counter", "Number of messages processed."),
    "failed": Metric("counter", "Number of messages failed."),
    "suspended": Metric("counter", "Number of times that the action was suspended."),
    "suspended_duration": Metric("counter", "Seconds for which the action was suspended."),
    "resumed": Metric("counter", "Number of times that the action was resumed."),
    "utime": Metric("counter", "User CPU time in microseconds."),
    "stime": Metric("counter", "System CPU time in microseconds."),
    "maxrss": Metric("gauge", "Maximum resident set size."),
    "minflt": Metric("counter", "Number of minor page faults."),
    "majflt": Metric("counter", "Number of major page faults."),
    "inblock": Metric("counter", "Number of file system input operations."),
    "oublock": Metric("counter", "Number of file system output operations."),
    "nvcsw": Metric("counter", "Number of voluntary context switches."),
    "nivcsw": Metric("counter", "Number of involuntary context switches."),
    "openfiles": Metric("gauge", "Number of open files."),
    "size": Metric("gauge", "Number of messages in the queue."),
    "enqueued": Metric("counter", "Number of messages enqueued."),
    "full": Metric("counter", "Number of times that the queue was full."),
    "discarded_full": Metric("counter", "Number of messages discarded because the queue was full."),
    "discarded_nf": Metric("counter", "Number of messages discarded although the queue was not full."),
    "maxqsize": Metric("gauge", "Largest size that the queue has had."),
}

_ESCAPE: Final = re.compile(r"\\(?:(u[0-9a-fA-F]{4}|[bfrt])|.)")
_NO_NAME: Final = re.compile(r"[^a-zA-Z0-9_]")


def textfiles(lines: Iterable[str]) -> Iterator[str]:
    """The text of the metrics after each finished batch of statistics.

    Args:
        lines: as rsyslogd writes them, without line ends.
    """
    batch: list[str] | None = None
    for line in lines:
        if f"{MARKER}BEGIN" in line:
            batch = []
        elif f"{MARKER}END" in line:
            if batch is not None:
                yield _textfile(batch)
            batch = None
        elif batch is not None and MARKER in line:
            batch.append(line.partition(MARKER)[2])


def _textfile(records: Iterable[str]) -> str:
    series = {name: value for record in records for name, value in _samples(record)}
    lines: list[str] = []
    last = ""
    for name in sorted(series, key=str.encode):
        metric = name.partition("{")[0]
        if metric != last:
            about = METRICS[metric.removeprefix(PREFIX)]
            lines += [f"# HELP {metric} {about.help}", f"# TYPE {metric} {about.type}"]
            last = metric
        lines.append(f"{name} {series[name]}")
    return "".join(f"{line}\n" for line in lines)


def _samples(record: str) -> Iterator[tuple[str, str]]:
    """Each series of a record with its value as it was written; none of a record that is no JSON object."""
    # Objects become tuples, and numbers bytes. NaN and its like are no JSON, and int refuses them.
    numbers: Any = {"parse_int": str.encode, "parse_float": str.encode, "parse_constant": int}
    try:
        read = json.loads(_ESCAPE.sub(_known_escape, record), object_pairs_hook=tuple, **numbers)
    except (ValueError, RecursionError):
        return
    members = read if isinstance(read, tuple) else ()
    labels = ",".join(
        f'{_NO_NAME.sub("_", name)}="{_label(value)}"' for name, value in members if isinstance(value, str)
    )
    for name, value in members:
        metric = name.replace(".", "_")
        if metric in METRICS and isinstance(value, bytes):
            yield f"{PREFIX}{metric}{{{labels}}}", value.decode()


def _known_escape(found: re.Match[str]) -> str:
    """An escape of JSON, or an underscore for one that the exposition format cannot express."""
    return "_" if found[1] else found[0]


def _label(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
