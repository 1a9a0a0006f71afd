"""`hedgerow simulate --for`: what is printed of what happens in the course of time."""

import json
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest

from hedgerow_adapters.simulation.clusters import Happening
from hedgerow_adapters.simulation.planning import Arrived, TimedSimulation
from hedgerow_entrypoints.cli.simulate import parse_arrival, parse_moment, parse_span
from tests.unit.entrypoints.command_line import BROKEN, NAMESPACE, Hedgerow

TOKENS = ("simulate", "token-requestor", "-f", "-", "--for")
PREFIX = "serviceaccount.resources.gardener.cloud"


def secret(name: str, **annotations: str) -> str:
    """A Secret that asks for a token, as a document."""
    wishes = {"name": "robot", "namespace": "kube-system", **annotations}
    metadata = {
        "name": name,
        "namespace": "shop",
        "labels": {"resources.gardener.cloud/purpose": "token-requestor"},
        "annotations": {f"{PREFIX}/{wish.replace('_', '-')}": value for wish, value in wishes.items()},
    }
    return f"{json.dumps({'apiVersion': 'v1', 'kind': 'Secret', 'metadata': metadata})}\n---\n"


def test_what_happens_again_and_again_is_one_line(hedgerow: Hedgerow) -> None:
    ended = hedgerow(*TOKENS, "3d", stdin=NAMESPACE + secret("a") + secret("b"))

    first, second, third = ended.out.splitlines()
    renewed = "request ServiceAccount/token kube-system/robot (renewal-due); change Secret shop/{} (renewal-due)"
    assert first.startswith("  0d 00:00:00  token-requestor  shop/a  create ServiceAccount kube-system/robot (")
    assert second.startswith(f"  0d 00:00:00  token-requestor  shop/b  {renewed.format('b')}  [8 times until 2d ")
    assert f"{renewed.format('a')}  [7 times until 2d " in third
    assert ", every 9h" in third
    assert ended.err.startswith("16 turns; 1 created, 16 requested, 16 changed; next due at 3d ")
    assert ended.code == 0


def test_of_many_keys_that_run_alike_the_first_ones_are_shown_and_the_others_counted(hedgerow: Hedgerow) -> None:
    secrets = "".join(secret(f"s{number:02}") for number in range(40))

    lines = hedgerow(*TOKENS, "2d", stdin=NAMESPACE + secrets).out.splitlines()

    assert len(lines) == 1 + 5 + 1
    assert "  35 more keys  request ServiceAccount/token (renewal-due); change Secret (renewal-due)  [" in lines[-1]


def test_every_line_is_shown_on_demand_with_dates_if_one_asks_for_a_beginning(hedgerow: Hedgerow) -> None:
    options = ("--all-lines", "--start", "2026-03-01T00:00:00Z")

    lines = hedgerow(*TOKENS, "2d", *options, stdin=NAMESPACE + secret("a")).out.splitlines()

    assert len(lines) == 5
    assert lines[0].startswith("  0d 00:00:00  2026-03-01T00:00:00Z  token-requestor  shop/a  create")
    assert lines[-1].startswith("  1d ")


def test_programs_get_a_document_for_everything(hedgerow: Hedgerow) -> None:
    ended = hedgerow(*TOKENS, "12h", "-o", "json", stdin=NAMESPACE + secret("a"))

    first, second = map(json.loads, ended.out.splitlines())
    assert (first["time"], first["after"], second["controller"]) == ("2026-01-01T00:00:00Z", 0, "token-requestor")
    assert second["after"] == pytest.approx(first["againAfter"], abs=1)
    assert second["key"] == {"namespace": "shop", "name": "a"}
    assert second["actions"] == [
        {
            "verb": "request",
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "key": {"namespace": "kube-system", "name": "robot"},
            "subresource": "token",
            "reason": "renewal-due",
        },
        {
            "verb": "change",
            "apiVersion": "v1",
            "kind": "Secret",
            "key": {"namespace": "shop", "name": "a"},
            "reason": "renewal-due",
        },
    ]


def test_a_seed_makes_another_course(hedgerow: Hedgerow) -> None:
    zero, one, again = (
        hedgerow(*TOKENS, "2d", *seed, stdin=NAMESPACE + secret("a")).out
        for seed in ((), ("--seed", "1"), ("--seed", "1"))
    )

    assert zero != one == again


def test_what_still_fails_in_the_end_is_an_error_and_what_has_recovered_is_not(
    hedgerow: Hedgerow, folder: Path
) -> None:
    (folder / "later.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: later}\n")
    waiting = NAMESPACE + secret("a", namespace="later")

    without, alone = (hedgerow(*TOKENS, "2h", *at, stdin=waiting) for at in (("--at", "1h=later.yaml"), ()))

    assert (without.code, "error" in without.err) == (0, False)
    assert "  0d 01:00:00  applied later.yaml: 1 object\n" in without.out
    assert alone.code == 1
    assert alone.err.startswith('error: ServiceAccount later/robot: cannot be created: namespaces "later" not found\n')


def test_a_failure_names_the_document_that_it_is_in(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "shop.yaml").write_text(NAMESPACE + BROKEN)

    ended = hedgerow("simulate", "networkpolicy", "-f", "shop.yaml", "--for", "1h")

    assert ended.code == 1
    assert ended.err.startswith("error: shop.yaml:2: Service shop/broken: ")
    assert ended.err.endswith("nothing is due\n")


def test_who_interrupts_it_gets_what_has_happened_until_then(
    hedgerow: Hedgerow, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = TimedSimulation.__iter__

    def interrupted(self: TimedSimulation) -> Iterator[Happening]:
        for happening in whole(self):
            if self.turns > 5:
                raise KeyboardInterrupt
            assert isinstance(happening, Happening)
            yield happening

    monkeypatch.setattr(TimedSimulation, "__iter__", interrupted)

    ended = hedgerow(*TOKENS, "30d", stdin=NAMESPACE + secret("a"))

    assert ended.code == 130
    assert "[4 times until 1d " in ended.out
    assert "interrupted at 2d " in ended.err


def test_who_ends_it_by_a_signal_gets_what_has_happened_until_then(
    hedgerow: Hedgerow, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, before = TimedSimulation.__iter__, signal.getsignal(signal.SIGTERM)

    def terminated(self: TimedSimulation) -> Iterator[Happening | Arrived]:
        for happening in whole(self):
            if self.turns > 5:
                signal.raise_signal(signal.SIGTERM)
            yield happening

    monkeypatch.setattr(TimedSimulation, "__iter__", terminated)

    ended = hedgerow(*TOKENS, "30d", stdin=NAMESPACE + secret("a"))

    assert ended.code == 143
    assert "[4 times until 1d " in ended.out
    assert "interrupted at 2d " in ended.err
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_file_without_objects_that_comes_later_is_told_of(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "empty.yaml").write_text("# nothing\n")

    ended = hedgerow(*TOKENS, "1h", "--at", "1h=empty.yaml", stdin=NAMESPACE + secret("a"))

    assert ended.code == 0
    assert "note: empty.yaml: holds no objects\n" in ended.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--seed", "1"), "--seed is only for --for"),
        (("--at", "1h=x.yaml"), "--at is only for --for"),
        (("--start", "now"), "--start is only for --for"),
        (("--all-lines",), "--all-lines is only for --for"),
        (("-o", "timeline"), "-o timeline is only for --for"),
        (("--for", "1h", "--all"), "--all is not for --for"),
        (("--for", "1h", "-o", "yaml"), "-o yaml is not for --for"),
        (
            ("--for", "1w"),
            'Invalid value for \'--for\': \'1w\' is no duration such as "30d", "1d12h" or "90m"',
        ),
        (
            ("--for", "9999999h"),
            (
                "Invalid value for '--for': '9999999h' is no duration such as "
                '"30d", "1d12h" or "90m", of at most 36500 days'
            ),
        ),
        (
            ("--for", "999999999d"),
            "Invalid value for '--for': '999999999d' is not between 0 and 36500 days",
        ),
        (
            ("--for", "1d", "--start", "9999-12-31T00:00:00Z"),
            "Invalid value for '--start': '9999-12-31T00:00:00Z' is not in the years 1970 to 8999",
        ),
        (
            ("--for", "1d", "--start", "0001-01-01T00:00:00+01:00"),
            "Invalid value for '--start': '0001-01-01T00:00:00+01:00' is not in the years 1970 to 8999",
        ),
        (("--for", "1h", "--at", "2h=x.yaml"), "--at: x.yaml comes after 2h0m0s, and --for ends after 1h0m0s"),
        (("--for", "1h", "--at", "x.yaml"), "Invalid value for '--at': 'x.yaml' does not say what comes when"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments: tuple[str, ...], sentence: str, hedgerow: Hedgerow) -> None:
    ended = hedgerow("simulate", "networkpolicy", "-f", "-", *arguments)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"error: {sentence}")


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("30d", timedelta(days=30)),
        ("1d12h30m", timedelta(days=1, hours=12, minutes=30)),
        ("90m", timedelta(minutes=90)),
        ("0", timedelta(0)),
    ],
)
def test_a_duration_may_have_days(text: str, span: timedelta) -> None:
    assert parse_span(text) == span


@pytest.mark.parametrize("text", ["", "d", "1.5d", "-1h", "1d-1h", "1h1d", "40000d", "999999d"])
def test_what_is_no_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        parse_span(text)


def test_a_moment_is_a_time_or_now() -> None:
    before = datetime.now(UTC) - timedelta(seconds=2)

    assert parse_moment("2026-03-01T01:00:00+01:00") == datetime(2026, 3, 1, tzinfo=UTC)
    assert before < parse_moment("now") <= datetime.now(UTC)
    with pytest.raises(click.BadParameter):
        parse_moment("tomorrow")


def test_a_file_that_comes_later_may_have_any_name() -> None:
    assert parse_arrival("1d=a=b.yaml") == (timedelta(days=1), "a=b.yaml")
