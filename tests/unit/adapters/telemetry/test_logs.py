"""Log lines as they are written."""

import errno
import io
import json
import logging
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, TextIO

import pytest

from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow_adapters.telemetry.logs import (
    Format,
    Level,
    begin_reconciliation,
    configure_logs,
    end_reconciliation,
    get_logger,
)
from hedgerow_adapters.telemetry.messages import Message

KEY = ObjectKey("shop", "cart")
FORMATS: list[Format] = ["json", "text"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def configured(level: Level = "info", log_format: Format = "json", stream: io.StringIO | None = None) -> io.StringIO:
    stream = stream or io.StringIO()
    configure_logs(level, log_format, stream)
    return stream


def use_secret(password: str) -> None:
    secret = password
    raise ValueError(f"wrong password of {len(secret)} letters")


def test_a_line_is_an_object_with_time_level_message_and_logger_in_front() -> None:
    stream = configured()

    get_logger("queue").tell(Message.HELD, key=KEY, deletions=3)

    (line,) = lines(stream)
    assert list(line) == ["ts", "level", "msg", "logger", "key", "deletions"]
    assert datetime.fromisoformat(line.pop("ts")).tzinfo == UTC
    assert line == {
        "level": "error", "msg": "Held deletions back", "logger": "queue", "key": "shop/cart", "deletions": 3,
    }  # fmt: skip


def test_values_are_spelled_as_users_write_them() -> None:
    stream = configured()

    get_logger("x").tell(Message.STOPPED, key=KEY, resource=Resource("apps", "v1", "pods", "Pod"),
                         error=ValueError("no"), names=["a"], pair=(1, 2), nothing=None)  # fmt: skip

    assert lines(stream)[0].items() >= {
        "key": "shop/cart", "resource": "pods.apps", "error": "no", "nothing": None,
    }.items()  # fmt: skip
    assert (lines(stream)[0]["names"], lines(stream)[0]["pair"]) == (["a"], [1, 2])


@pytest.mark.parametrize(
    ("level", "written"),
    [
        ("debug", ["debug", "info", "warning", "error"]),
        ("info", ["info", "warning", "error"]),
        ("error", ["error"]),
    ],
)
def test_lines_below_the_level_are_not_written(level: Level, written: list[str]) -> None:
    stream = configured(level)
    ours, theirs = get_logger("x"), logging.getLogger("aiohttp.client")

    for message in (Message.RECONCILED, Message.STOPPED, Message.CROWDED, Message.HELD):
        ours.tell(message)
    theirs.debug("d")
    theirs.info("i")
    theirs.warning("w")
    theirs.error("e")

    assert [line["level"] for line in lines(stream)] == written * 2


def test_what_was_said_a_short_while_ago_only_shows_at_level_debug() -> None:
    quiet = configured("info")
    get_logger("x").tell(Message.HELD, again=True)
    verbose = configured("debug")
    get_logger("x").tell(Message.HELD, again=True)

    assert quiet.getvalue() == ""
    assert [(line["level"], line["msg"]) for line in lines(verbose)] == [("debug", "Held deletions back")]


def test_lines_of_libraries_look_like_our_own() -> None:
    stream = configured()

    logging.getLogger("aiohttp.client").warning("closed %s", "early")

    (line,) = lines(stream)
    del line["ts"]
    assert line == {"level": "warning", "msg": "Library", "logger": "aiohttp.client", "text": "closed early"}


@pytest.mark.parametrize("log_format", FORMATS)
@pytest.mark.parametrize("is_ours", [True, False], ids=["ours", "a library's"])
def test_exceptions_show_their_traceback_and_no_values_of_variables(log_format: Format, *, is_ours: bool) -> None:
    stream = configured(log_format=log_format)

    try:
        use_secret("2retnuh"[::-1])
    except ValueError as error:
        if is_ours:
            get_logger("x").tell(Message.DEFECT, exc_info=error)
        else:
            logging.getLogger("asyncio").exception("Failed")

    assert "in use_secret" in stream.getvalue()
    assert "ValueError: wrong password of 7 letters" in stream.getvalue()
    assert "hunter2" not in stream.getvalue()


def test_a_second_configuration_replaces_the_first() -> None:
    first, second = configured(), configured("debug")

    get_logger("x").tell(Message.RECONCILED)
    logging.getLogger("aiohttp").info("theirs")

    assert first.getvalue() == ""
    assert [line["msg"] for line in lines(second)] == ["Reconciled", "Library"]


@pytest.mark.parametrize(
    ("stream", "no_color", "is_coloured"),
    [
        (Terminal(), "", True),
        (Terminal(), "1", False),
        (io.StringIO(), "", False),
    ],
    ids=["terminal", "terminal without colours", "file"],
)
def test_text_is_coloured_only_for_people_who_want_it(
    stream: io.StringIO, no_color: str, *, is_coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    configured(log_format="text", stream=stream)

    get_logger("queue").tell(Message.HELD, deletions=3)

    assert ("\x1b[" in stream.getvalue()) is is_coloured


def test_text_is_one_readable_line() -> None:
    stream = configured(log_format="text")

    get_logger("queue").tell(Message.HELD, key=KEY, deletions=3)

    assert stream.getvalue()[28:].split() == [
        "[error", "]", "Held", "deletions", "back", "[queue]", "key=shop/cart", "deletions=3",
    ]  # fmt: skip


def test_all_lines_of_a_reconciliation_carry_its_identity_and_others_do_not() -> None:
    stream = configured()
    log = get_logger("x")

    first = begin_reconciliation(KEY)
    log.tell(Message.STOPPING)
    logging.getLogger("aiohttp").info("two")
    second = begin_reconciliation(KEY)
    log.tell(Message.STOPPING)
    end_reconciliation()
    log.tell(Message.STOPPED)

    assert first != second
    assert [line.get("reconcileID") for line in lines(stream)] == [first, first, second, None]
    assert [line.get("object") for line in lines(stream)] == ["shop/cart"] * 3 + [None]


@pytest.fixture
def broken_pipe() -> Iterator[TextIO]:
    """A stream whose reader has gone."""
    reading, writing = os.pipe()
    os.close(reading)
    stream = os.fdopen(writing, "w", buffering=1, encoding="utf-8")
    yield stream
    with pytest.raises(BrokenPipeError):
        stream.close()


class FullDisk(io.StringIO):
    """A disk that is full until somebody frees some of it."""

    is_full = True

    def write(self, text: str) -> int:
        if self.is_full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(text)


@pytest.mark.parametrize("log_format", FORMATS)
def test_a_log_without_a_reader_does_not_end_the_caller(
    log_format: Format, broken_pipe: TextIO, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs("info", log_format, broken_pipe)

    get_logger("leader election").tell(Message.LEADER_ELECTION)
    get_logger("leader election").tell(Message.ELECTION_TROUBLE)
    logging.getLogger("aiohttp").warning("closed")

    assert capsys.readouterr() == ("", "")


def test_lines_are_written_again_once_the_disk_has_space_again() -> None:
    disk = FullDisk()
    configure_logs("info", "json", disk)
    log = get_logger("x")

    log.tell(Message.STOPPING)
    disk.is_full = False
    log.tell(Message.STOPPED)

    assert [line["msg"] for line in lines(disk)] == ["Stopped"]
