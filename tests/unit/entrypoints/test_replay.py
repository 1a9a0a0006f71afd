"""Recorded decisions made again, as a user asks for it."""

import errno
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import click
import pytest
import yaml
from click.testing import CliRunner

from hedgerow.machinery.configuration.section import Purpose
from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.configuration import ResourceManagerConfiguration, decode
from hedgerow.version import __version__
from hedgerow_entrypoints.cli.command import ReaderGoneError
from hedgerow_entrypoints.cli.command import hedgerow as hedgerow_command
from hedgerow_entrypoints.components.resource_manager import COMPONENT
from hedgerow_entrypoints.errors import CommandError
from hedgerow_entrypoints.process.recording import Recording
from tests.unit.adapters.recording.session import Session, documents, encoded
from tests.unit.adapters.runtime.world import CART, service
from tests.unit.core.resource_manager.managed_resources.harness import config_map, managed_resource
from tests.unit.entrypoints.command_line import Hedgerow

CONFIGURATION = {
    "apiVersion": "resourcemanager.config.gardener.cloud/v1alpha1",
    "kind": "ResourceManagerConfiguration",
    "leaderElection": {"leaderElect": False},
    "controllers": {
        "networkPolicy": {"enabled": True},
        "managedResource": {"alwaysUpdate": True},
        "clusterID": "seed-1",
    },
}
RECORD = "decisions.jsonl"
TILL = ObjectKey("shop", "till")


def outer_secret(text: str) -> dict[str, Any]:
    metadata = {"name": "outer", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"objects.yaml": encoded(text)}}


def recording_of(path: str, configuration: ResourceManagerConfiguration) -> Recording:
    assert COMPONENT.redaction is not None
    return Recording(path, COMPONENT.name, configuration.manifest(), COMPONENT.redaction())


@pytest.fixture
def record(folder: Path) -> Path:
    """Of a process that was configured otherwise than by defaults."""
    decoded = decode(CONFIGURATION, Purpose.OFFLINE).unwrap().configuration
    recording = recording_of(RECORD, decoded)
    session = Session(folder / "beside.jsonl", COMPONENT.visible(decoded, "seed-1"))
    session.recorder = recording.begin("seed-1")
    session.put(outer_secret(documents(config_map("a"))), managed_resource("outer"), service(CART), service(TILL))
    session.work(rounds=2)
    session.end()
    recording.end()
    return folder / RECORD


def rewrite(
    record: Path, change: Callable[[dict[str, Any]], object], *, which: Callable[[dict[str, Any]], bool]
) -> None:
    lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if which(line):
            change(line)
    record.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def about_the_cart(line: dict[str, Any]) -> bool:
    return line.get("key") == {"$": "key", "namespace": "shop", "name": "cart"} and line["turn"] < 10


def end_of(line: dict[str, Any]) -> dict[str, Any]:
    end: dict[str, Any] = line["parts"][-1]["wants"]
    return end


def lines_in(record: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in record.read_text(encoding="utf-8").splitlines())


def test_decisions_of_this_version_are_the_same(hedgerow: Hedgerow, record: Path) -> None:
    count = sum("parts" in line for line in lines_in(record))

    ended = hedgerow("replay", RECORD)

    assert (ended.code, ended.out) == (0, "")
    assert ended.err == f"{count} decisions repeated, none different\n"
    assert count > 8


def test_a_decision_that_comes_out_otherwise_is_shown(hedgerow: Hedgerow, record: Path) -> None:
    rewrite(record, lambda line: end_of(line).pop("actions"), which=about_the_cart)

    ended = hedgerow("replay", RECORD)

    first, *rest = ended.out.splitlines()
    assert ended.code == 2
    assert first.startswith("networkpolicy shop/cart at 2026-01-01T00:00:00.000+00:00 (turn ")
    assert first.endswith(", part 1): has another plan")
    assert rest[:2] == ["  --- recorded", "  +++ repeated"]
    assert '"name": "egress-to-cart-tcp-8080"' in [line.removeprefix("  +").strip() for line in rest]
    assert ended.err.endswith(" decisions repeated, 1 different\n")


def test_a_reader_who_has_seen_enough_is_no_fault_of_the_record(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rewrite(record, lambda line: end_of(line).update(requeue_after=7.0), which=about_the_cart)

    def gone(*_: object, **__: object) -> NoReturn:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr(click, "echo", gone)

    ended = CliRunner().invoke(hedgerow_command, ["replay", str(record)])

    assert isinstance(ended.exception, ReaderGoneError)


@pytest.mark.parametrize(
    ("options", "code", "summary"),
    [
        (["--controller", "networkpolicy", "--key", "shop/till"], 0, "2 decisions repeated, none different"),
        (["--key", "shop/cart", "--key", "shop/till"], 2, "4 decisions repeated, 1 different"),
        (["--controller", "secret"], 0, "2 decisions repeated, none different"),
        (["--key", "cart"], 1, f"error: {RECORD}: holds no decision that was asked for"),
    ],
)
def test_some_decisions_can_be_chosen(
    hedgerow: Hedgerow, record: Path, options: list[str], code: int, summary: str
) -> None:
    rewrite(record, lambda line: end_of(line).update(requeue_after=7.0), which=about_the_cart)

    ended = hedgerow("replay", RECORD, *options)

    assert (ended.code, ended.err) == (code, f"{summary}\n")


def test_differences_can_be_had_as_json(hedgerow: Hedgerow, record: Path) -> None:
    rewrite(
        record,
        lambda line: (
            line["parts"][-1].pop("wants"),
            line.update(raised="KeyError", acted=["raised"]),
        ),
        which=about_the_cart,
    )

    (difference,) = json.loads(hedgerow("replay", RECORD, "-o", "json").out)

    assert {name: difference[name] for name in ("controller", "key", "part", "time", "difference", "process")} == {
        "controller": "networkpolicy",
        "key": "shop/cart",
        "part": 1,
        "time": "2026-01-01T00:00:00+00:00",
        "difference": "has a plan and raised KeyError then",
        "process": ["raised"],
    }


def test_what_the_process_itself_did_is_said(hedgerow: Hedgerow, record: Path) -> None:
    rewrite(
        record,
        lambda line: (end_of(line).update(requeue_after=7.0), line.update(acted=["goes on", "and on"])),
        which=about_the_cart,
    )

    assert "  the process itself: goes on; and on" in hedgerow("replay", RECORD).out.splitlines()


def test_the_configuration_of_the_process_counts(hedgerow: Hedgerow, record: Path) -> None:
    def reconfigure(line: dict[str, Any]) -> None:
        line["configuration"]["controllers"]["networkPolicy"] = {"enabled": False}

    rewrite(record, reconfigure, which=lambda line: "configuration" in line)

    ended = hedgerow("replay", RECORD, "--key", "shop/cart")

    assert ended.code == 2
    assert ended.out.count("no controller of this name runs with that configuration") == 2


def test_another_version_and_a_torn_end_are_noted(hedgerow: Hedgerow, record: Path) -> None:
    rewrite(record, lambda line: line.update(version="0.0.1"), which=lambda line: "version" in line)
    with record.open("a", encoding="utf-8") as file:
        file.write('{"controller": "netw')

    ended = hedgerow("replay", RECORD)

    number = len(record.read_text(encoding="utf-8").splitlines())
    assert ended.code == 0
    assert ended.err.splitlines()[:2] == [
        f"note: {RECORD}: line 1: decided by version 0.0.1, repeated by {__version__}",
        f"note: {RECORD}: line {number} is torn, as the process was ended in the middle of it",
    ]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"component": "gardener"}, "line 1: is of the component gardener, which is not known"),
        ({"configuration": {"kind": "Other"}}, "line 1: configuration: "),
        (
            {"hedgerow-record": 9},
            "line 1: its format is 9, this version knows only 3: replay it with ",
        ),
    ],
)
def test_a_record_that_cannot_be_repeated_here_is_refused(
    hedgerow: Hedgerow, record: Path, change: dict[str, Any], problem: str
) -> None:
    rewrite(record, lambda line: line.update(change), which=lambda line: "version" in line)

    ended = hedgerow("replay", RECORD)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"error: {RECORD}: {problem}")


def test_a_file_that_is_not_there_is_an_error(hedgerow: Hedgerow, folder: Path) -> None:
    ended = hedgerow("replay", "gone")

    assert (ended.code, ended.err) == (1, "error: gone: No such file or directory\n")
    assert not list(folder.iterdir())


def test_a_record_that_cannot_be_opened_ends_the_start(folder: Path, hedgerow: Hedgerow) -> None:
    (folder / "config.yaml").write_text(yaml.safe_dump(CONFIGURATION), encoding="utf-8")

    ended = hedgerow("run", "resource-manager", "--config", "config.yaml", "--record", "no/such/folder/record")

    assert ended.code == 1
    last = json.loads(ended.err.splitlines()[-1])
    assert (last["field"], last["error"]) == (
        "--record",
        "error opening record: no/such/folder/record: No such file or directory",
    )


def test_a_record_that_others_may_read_ends_the_start(folder: Path) -> None:
    (folder / RECORD).touch(mode=0o644)

    with pytest.raises(CommandError, match=f"error opening record: {RECORD}: others may read or write it: chmod 600"):
        recording_of(RECORD, decode(CONFIGURATION, Purpose.OFFLINE).unwrap().configuration)


def test_the_same_value_is_another_fingerprint_in_the_record_of_another_run(folder: Path) -> None:
    decoded = decode(CONFIGURATION, Purpose.OFFLINE).unwrap().configuration
    shown = []
    for name in ("a", "b"):
        recording = recording_of(name, decoded)
        session = Session(folder / f"{name} beside", COMPONENT.visible(decoded, ""))
        session.recorder = recording.begin("")
        session.put(outer_secret("guessable"), managed_resource("outer"))
        session.work()
        session.end()
        recording.end()
        shown.append({answered["data"]["objects.yaml"] for answered in answered_secrets(folder / name)})

    assert len(shown[0]) == len(shown[1]) == 1
    assert shown[0] != shown[1]


def answered_secrets(record: Path) -> Iterator[dict[str, Any]]:
    for line in lines_in(record):
        for part in line.get("parts", ()):
            reply = part.get("reply") or []
            for answer in reply if isinstance(reply, list) else [reply]:
                found = answer.get("objects", ())
                yield from (each for each in found if each.get("data", {}).keys() == {"objects.yaml"})
