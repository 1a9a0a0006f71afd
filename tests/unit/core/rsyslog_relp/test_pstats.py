"""Statistics as metrics: what the script writes, which is what the oracle in the core says."""

import json
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hedgerow.rsyslog_relp.naming import HostPaths
from hedgerow.rsyslog_relp.pstats import METRICS, PREFIX, textfiles
from hedgerow.rsyslog_relp.rendering import pstats_script

HEAD = "2026-11-20T22:38:18.281286+00:00 vm rsyslogd-pstats: "
BEGIN, END = f"{HEAD}BEGIN", f"{HEAD}END"
SUBMITTED = {"name": "imuxsock", "origin": "imuxsock", "submitted": 6, "ratelimit.discarded": 0}
SERIES = 'rsyslog_pstat_submitted{name="imuxsock",origin="imuxsock"}'


def line(record: Any) -> str:
    return HEAD + (record if isinstance(record, str) else json.dumps(record, ensure_ascii=False))


def batch(*records: Any) -> list[str]:
    return [BEGIN, *map(line, records), END]


def written(folder: Path, lines: Sequence[str], *, mask: str = "022") -> str | None:
    """The text file that the script leaves; none if it writes none."""
    paths = HostPaths.below(str(folder))
    subprocess.run(
        ["bash", "-c", f"umask {mask}\n{pstats_script(paths)}"],
        input="".join(f"{each}\n" for each in lines).encode("utf-8", "surrogateescape"),
        check=True,
        timeout=60,
    )
    output = Path(paths.pstats_output)
    return output.read_text() if output.exists() else None


def samples(text: str | None) -> list[str]:
    assert text is not None
    return [each for each in text.splitlines() if not each.startswith("#")]


def test_a_batch_becomes_a_file_of_metrics(tmp_path: Path) -> None:
    text = written(tmp_path, batch(SUBMITTED))

    assert text == (
        "# HELP rsyslog_pstat_submitted Number of messages submitted.\n"
        "# TYPE rsyslog_pstat_submitted counter\n"
        f"{SERIES} 6\n"
    )


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([{"name": "a", "origin": "b", "values": {"x": 1, "size": 2}, "size": 3}], ['size{name="a",origin="b"} 3']),
        ([{"name": "a", "origin": "b", "suspended.duration": 1}], ['suspended_duration{name="a",origin="b"} 1']),
        ([r'{ "name": "imptcp(*\/20600\/IPv4)", "size": 1 }'], ['size{name="imptcp(*/20600/IPv4)"} 1']),
        ([r'{ "name": "we\"ird\/na\\me", "size": 1 }'], [r'size{name="we\"ird/na\\me"} 1']),
        ([r'{ "name": "tab\tnew\nu\u00e9", "size": -1.5e3 }'], [r'size{name="tab_new\nu_"} -1.5e3']),
        ([{"name": "日志", "size": 1}], ['size{name="日志"} 1']),
        ([{"name": "a", "size": 1}, {"name": "a", "size": 2}], ['size{name="a"} 2']),
        (
            ["no JSON", "[1]", '{"size": NaN}', '{ "size": 1', '{"size": 01}', {"name": "a", "size": 1}],
            ['size{name="a"} 1'],
        ),
        (['{"name": "a\tb", "size": 1}', '{"name": "\x01", "size": 1}', '{"a\x1f": 1, "size": 1}'], []),
        (
            ['{"name": "a\x7fb", "size": 1}', '{"name": "a b!", "size": 1}'],
            ['size{name="a b!"} 1', 'size{name="a\x7fb"} 1'],
        ),
        ([{"name": "a", "size": True, "full": None, "failed": [1]}], []),
    ],
)
def test_records_become_samples(tmp_path: Path, records: list[Any], expected: list[str]) -> None:
    assert samples(written(tmp_path, batch(*records))) == [f"{PREFIX}{each}" for each in expected]
    assert samples(*textfiles(batch(*records))) == [f"{PREFIX}{each}" for each in expected]


def test_every_metric_has_its_group_in_the_order_of_the_c_locale(tmp_path: Path) -> None:
    text = written(tmp_path, batch({"name": "a", **dict.fromkeys(METRICS, 1)}))

    assert samples(text) == sorted(f'{PREFIX}{name}{{name="a"}} 1' for name in METRICS)
    assert text is not None
    assert text.count("# HELP") == text.count("# TYPE") == len(METRICS)


def test_the_last_batch_counts(tmp_path: Path) -> None:
    assert samples(written(tmp_path, [*batch(SUBMITTED), *batch({**SUBMITTED, "submitted": 7})])) == [f"{SERIES} 7"]


def test_a_batch_that_begins_again_is_dropped(tmp_path: Path) -> None:
    lines = [BEGIN, line({**SUBMITTED, "submitted": 7}), "noise", *batch(SUBMITTED)]

    assert samples(written(tmp_path, lines)) == [f"{SERIES} 6"]


@pytest.mark.parametrize("lines", [[line(SUBMITTED), END], [BEGIN, line(SUBMITTED)], ["no statistics"], []])
def test_without_a_whole_batch_nothing_is_written(tmp_path: Path, lines: list[str]) -> None:
    assert written(tmp_path, lines) is None
    assert [*textfiles(lines)] == []


def test_a_batch_without_known_metrics_is_an_empty_file(tmp_path: Path) -> None:
    assert written(tmp_path, batch({"name": "a", "level0": 1})) == ""


def test_the_file_replaces_what_a_killed_run_left_and_everybody_may_read_it(tmp_path: Path) -> None:
    output = Path(HostPaths.below(str(tmp_path)).pstats_output)
    output.parent.mkdir(parents=True)
    Path(f"{output}.tmp").write_text("stale")

    assert samples(written(tmp_path, batch(SUBMITTED), mask="077")) == [f"{SERIES} 6"]
    assert stat.S_IMODE(output.stat().st_mode) == 0o644
    assert [*output.parent.iterdir()] == [output]


def test_everybody_may_enter_the_folder_that_the_script_makes(tmp_path: Path) -> None:
    written(tmp_path, batch(SUBMITTED), mask="077")

    assert stat.S_IMODE(Path(HostPaths.below(str(tmp_path)).textfile_dir).stat().st_mode) == 0o755


def test_a_file_that_cannot_be_written_does_not_end_the_script(tmp_path: Path) -> None:
    output = Path(HostPaths.below(str(tmp_path)).pstats_output)
    output.mkdir(parents=True)
    (output / "in the way").touch()

    with pytest.raises(IsADirectoryError):
        written(tmp_path, [*batch(SUBMITTED), *batch(SUBMITTED)])


_texts = some.text(some.characters(exclude_categories=("Cs", "Cc")), max_size=8)
_values = some.recursive(
    _texts | some.integers(-9, 9) | some.booleans() | some.none() | some.floats(-1e3, 1e3),
    lambda inner: some.lists(inner, max_size=2) | some.dictionaries(_texts, inner, max_size=2),
    max_leaves=4,
)
_records = some.fixed_dictionaries(
    {"name": _texts, "origin": _texts},
    optional=dict.fromkeys(("submitted", "size", "discarded.nf", "odd"), _values),
)
_lines = some.one_of(
    _records.map(line),
    _records.map(lambda record: line(json.dumps(record))),
    some.tuples(_records.map(line), some.integers(len(HEAD), 80)).map(lambda cut: cut[0][: cut[1]]),
    some.sampled_from([BEGIN, END, "noise", HEAD]),
)


@given(lines=some.lists(_lines, max_size=12))
@settings(max_examples=40, deadline=None)
def test_the_script_writes_what_the_oracle_says(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    lines = [BEGIN, *lines, END]

    assert written(tmp_path_factory.mktemp("node"), lines) == [*textfiles(lines)][-1]
