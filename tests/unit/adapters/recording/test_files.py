"""A record is appended to beside the work, and can be read whatever became of its writer."""

import json
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.recording.codec import Header, Unreadable, line_of
from hedgerow.machinery.recording.journal import Unrecorded
from hedgerow_adapters import recording
from hedgerow_adapters.recording import RecordError, RecordFile, record_lines
from tests.control_plane.processes import wait_until
from tests.unit.adapters.recording.session import HEADER, Session, repeated
from tests.unit.adapters.runtime.world import CART, POLICIES, service

FIRST = HEADER.to_line()
LEVELS = 500
KEY = '{"$": "key", "namespace": "shop", "name": "a"}'
_PARTS = '{"$": "told", "stored": ' * LEVELS + "null" + "}" * LEVELS
DEEP = f'{{"$": "decision", "controller": "secret", "key": {KEY}, "turn": 1, "parts": {_PARTS}}}'
"""JSON that can be read, and holds a value that cannot."""
OTHER_FORMAT = "this version knows only 3: replay it with the version that has recorded it"
UNRECORDED = line_of(Unrecorded("secret", ObjectKey("shop", "a"), 1, "too strange"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "decisions.jsonl"


def test_lines_are_appended_whole_and_in_order_to_what_is_there(path: Path) -> None:
    path.write_text("first\nkilled in the mid", encoding="utf-8")
    path.chmod(0o600)
    file = RecordFile(path, pytest.fail)
    for number in range(1000):
        file.append(str(number))
    file.close()

    assert path.read_text(encoding="utf-8").splitlines() == [
        "first",
        "killed in the mid",
        *(str(number) for number in range(1000)),
    ]


def test_only_its_owner_may_read_a_record(path: Path) -> None:
    RecordFile(path, pytest.fail).close()

    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IRUSR | stat.S_IWUSR


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_a_file_that_others_may_read_or_write_is_refused_and_left_alone(path: Path, mode: int) -> None:
    path.write_text("theirs\n", encoding="utf-8")
    path.chmod(mode)

    with pytest.raises(PermissionError, match="others may read or write it"):
        RecordFile(path, pytest.fail)

    assert path.read_text(encoding="utf-8") == "theirs\n"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_file_of_somebody_else_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    RecordFile(path, pytest.fail).close()
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)

    with pytest.raises(PermissionError, match="belongs to somebody else"):
        RecordFile(path, pytest.fail)


def test_no_link_is_followed_to_a_file_that_was_not_named(path: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(path)

    with pytest.raises(OSError, match="is a symbolic link"):
        RecordFile(tmp_path / "link", pytest.fail)

    assert not path.exists()


def test_a_file_has_one_writer_at_a_time(path: Path) -> None:
    first = RecordFile(path, pytest.fail)
    with pytest.raises(BlockingIOError, match="another process is recording in it"):
        RecordFile(path, pytest.fail)
    first.append("first")
    first.close()

    second = RecordFile(path, pytest.fail)
    second.append("second")
    second.close()

    assert path.read_text(encoding="utf-8") == "first\nsecond\n"


def test_a_full_disk_ends_the_record_and_nothing_else() -> None:
    problems: list[str] = []
    file = RecordFile(Path("/dev/full"), problems.append)
    file.append("does not fit")
    wait_until(lambda: not file.is_writing, timeout=10, otherwise=AssertionError)
    file.append("is not even tried")
    file.close()

    assert problems == ["No space left on device"]


def test_a_process_goes_on_whose_record_has_ended() -> None:
    session = Session(Path("/dev/full"))
    session.put(service(CART))
    wait_until(lambda: bool(session.problems), timeout=10, otherwise=AssertionError)

    session.work()

    assert len(session.cluster.objects(POLICIES)) == 2
    assert session.problems == ["No space left on device"]


def test_a_disk_that_falls_behind_ends_the_record_and_nobody_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "MOST_WAITING", 1_000_000)
    monkeypatch.setattr(recording, "LONGEST_END", 0.01)
    pipe = tmp_path / "nobody reads this"
    os.mkfifo(pipe)
    problems: list[str] = []
    file = RecordFile(pipe, problems.append)

    for _ in range(30):
        file.append("x" * 100_000)
    file.close()

    assert problems == ["too much waits to be written"]


def entries(path: Path) -> list[object]:
    return [line.content for line in record_lines(path)]


@pytest.mark.parametrize("rest", ["", "\n" + FIRST + "\n"], ids=["at the end", "before another run"])
def test_a_line_that_is_torn_where_a_run_ends_is_told_from_others(path: Path, rest: str) -> None:
    path.write_text(f"{FIRST}\n{UNRECORDED}\n{UNRECORDED[:40]}{rest}", encoding="utf-8")

    lines = [*record_lines(path)]

    assert [line.number for line in lines if line.content is None] == [3]
    assert sum(isinstance(line.content, Header) for line in lines) == (2 if rest else 1)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is no record: it is empty"),
        (f"{UNRECORDED}\n", "is no record: its first line does not say who decides"),
        ("kind: Secret\n", "is no record: its first line does not say who decides"),
        ("[]\n", "line 1: it is no line of a record"),
        ("{}\n", "line 1: it is no line of a record"),
        ('{"controller": "x", "key": null, "turn": 1}\n', "line 1: it is no line of a record"),
        (f'{FIRST}\n{{"controller": "x"\n{UNRECORDED}\n', "line 2: is no line of a record"),
        (f'{FIRST}\n{{"controller": "x"}}\n', "line 2: it is no line of a record"),
        ('{"hedgerow-record": 1}\n', f"line 1: its format is 1, {OTHER_FORMAT}"),
        ('{"hedgerow-record": 2}\n', f"line 1: its format is 2, {OTHER_FORMAT}"),
        ('{"hedgerow-record": 3}\n', "line 1: it is no line of a record"),
        (f"{FIRST}\n{'[' * 100_000}\n", "line 2: is nested too deeply"),
        (f"{FIRST}\n{DEEP}\n", "line 2: is nested too deeply"),
    ],
)
def test_what_is_no_record_is_refused(path: Path, text: str, problem: str) -> None:
    path.write_text(text, encoding="utf-8")

    with pytest.raises(RecordError) as refused:
        entries(path)

    assert str(refused.value) == f"{path}: {problem}"


def recorded(path: Path) -> list[dict[str, Any]]:
    session = Session(path)
    session.put(service(CART))
    session.work()
    session.end()
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    lines = recorded(path)
    for line in lines[1:]:
        change(line)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def test_a_decision_made_from_what_this_version_does_not_know_is_told(path: Path) -> None:
    rewritten(path, lambda line: line["parts"][0].update(reply={"$": "meal"}))

    found = repeated(path)

    assert found.decisions == []
    assert all(isinstance(each.decision, Unreadable) for each in found.differences)
    assert {each.summary for each in found.differences} == {
        "holds what this version does not know: there is no type meal"
    }


def test_a_turn_whose_predecessor_is_missing_is_left_out(path: Path) -> None:
    rewritten(path, lambda line: line.update(has_state=True))

    found = repeated(path)

    assert (found.skipped, found.differences) == (len(found.decisions), [])


def test_lines_are_made_in_the_thread_that_writes_and_what_waits_counts(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "MOST_WAITING", 10)
    problems: list[str] = []
    file = RecordFile(path, problems.append)
    begun, may_go_on = threading.Event(), threading.Event()
    threads = []

    def line() -> str:
        threads.append(threading.current_thread())
        begun.set()
        may_go_on.wait(60)
        return "made"

    file.append_later(line, 6)
    begun.wait(60)
    file.append_later(line, 5)
    may_go_on.set()
    file.close()

    assert problems == ["too much waits to be written"]
    assert len(threads) == 1
    assert threading.current_thread() not in threads
    assert path.read_text(encoding="utf-8") == "made\n"
