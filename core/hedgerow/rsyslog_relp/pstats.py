"""Statistics of rsyslogd as Prometheus metrics: what `process-rsyslog-pstats.sh` writes on a node.

The table of metrics is the script's; `textfiles` says what the script has to write.

Source: rsyslog-relp §10; decision D-14.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

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

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
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
    members = _members(record)
    labels = ",".join(
        f'{_NO_NAME.sub("_", name)}="{_label(value[1:-1])}"' for name, value in members if value[0] == '"'
    )
    for name, value in members:
        metric = name.replace(".", "_")
        if metric in METRICS and _NUMBER.fullmatch(value):
            yield f"{PREFIX}{metric}{{{labels}}}", value


def _members(record: str) -> list[tuple[str, str]]:
    """The names of a JSON object's members, and their values as they were written; none of anything else."""
    decoder = json.JSONDecoder(parse_constant=_refuse)
    members: list[tuple[str, str]] = []
    try:
        if not isinstance(decoder.decode(record), dict):
            return []
        start = _after_blanks(record, record.index("{") + 1)
        while record[start : start + 1] == '"':
            name, end = decoder.raw_decode(record, start)
            start = _after_blanks(record, record.index(":", end) + 1)
            _, end = decoder.raw_decode(record, start)
            members.append((name, record[start:end]))
            start = _after_blanks(record, _after_blanks(record, end) + 1)
    except (ValueError, RecursionError):
        return []
    return members


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _after_blanks(text: str, start: int) -> int:
    return start + len(text[start:]) - len(text[start:].lstrip(" \t\r\n"))


def _label(text: str) -> str:
    """A JSON string as the value of a label: the exposition format knows three escapes."""
    return _ESCAPE.sub(lambda found: {"/": "/", "\\": r"\\", '"': r"\"", "n": r"\n"}.get(found[1], "_"), text)
