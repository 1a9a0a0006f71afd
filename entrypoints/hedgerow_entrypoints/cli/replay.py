"""`hedgerow replay`: recorded decisions made again, and which of them come out otherwise."""

import json
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click
from returns.result import Failure

from hedgerow.machinery.configuration.section import Purpose
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.recording.codec import Header, Turn, Unreadable
from hedgerow.machinery.recording.journal import Journal
from hedgerow.machinery.recording.replaying import Difference, Replay
from hedgerow.version import __version__
from hedgerow_adapters.recording import RecordError, RecordLine, record_lines
from hedgerow_entrypoints.components import RUNNABLE, component
from hedgerow_entrypoints.errors import CommandError, note

DIFFERS: Final = 2
EXAMPLES: Final = """\b
Examples:
  hedgerow run resource-manager --config resource-manager.yaml --record decisions.jsonl
  hedgerow replay decisions.jsonl
  hedgerow replay decisions.jsonl --controller managedresource --key shop/cart -o json"""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which decisions are repeated; of what is empty all are."""

    controllers: Collection[str]
    keys: Collection[ObjectKey]

    def holds(self, turn: Turn) -> bool:
        """Whether a decision is among them."""
        return (not self.controllers or turn.controller in self.controllers) and (
            not self.keys or turn.key in self.keys
        )


@dataclass
class Tally:
    """What has been repeated so far."""

    counts: Counter[str] = field(default_factory=Counter)

    def summary(self) -> str:
        """One line."""
        repeated, different = self.counts["repeated"], self.counts["different"]
        what = f"{repeated} decision{'' if repeated == 1 else 's'} repeated, {different or 'none'} different"
        skipped = self.counts["skipped"]
        return f"{what}, {skipped} left out as they, or those before them, cannot be repeated" if skipped else what


@click.command(name="replay", epilog=EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--controller", "controllers", multiple=True, metavar="NAME", help="Only its decisions; repeatable.")
@click.option("--key", "keys", multiple=True, metavar="[NAMESPACE/]NAME", help="Only those about it; repeatable.")
@click.option(
    "-o", "--output", type=click.Choice(["diff", "json"]), default="diff", show_default=True, help="How to show them."
)
def command(file: Path, controllers: tuple[str, ...], keys: tuple[str, ...], *, output: str) -> None:
    """Make the decisions again that `hedgerow run --record` has recorded, and show those that come out otherwise.

    No cluster is asked: a decision is made from what it was made from then, by the controllers of this version.

    Exit code 0: all are the same; 2: some are different; 1: an error, or nothing to repeat.
    """
    chosen = Chosen(controllers, [_key(each) for each in keys])
    tally = Tally()
    _show(_repeated(file, chosen, tally), as_json=output == "json")
    if not tally.counts.total():
        raise CommandError(f"{file}: holds no decision that was asked for")
    note(tally.summary())
    if tally.counts["different"]:
        sys.exit(DIFFERS)


def _key(text: str) -> ObjectKey:
    namespace, _, name = text.rpartition("/")
    return ObjectKey(namespace, name)


def _repeated(file: Path, chosen: Chosen, tally: Tally) -> Iterator[Difference]:
    """The differences, run by run.

    Raises:
        CommandError: the file is no record that can be read, or tells of a process that is not known here.
    """
    replay = Replay({})
    for line in _lines(file):
        if line.content is None:
            note(f"note: {file}: line {line.number} is torn, as the process was ended in the middle of it")
        elif isinstance(line.content, Header):
            replay = Replay(_controllers(file, line.number, line.content))
        elif chosen.holds(line.content):
            yield from _tallied(replay, line.content, tally)


def _lines(file: Path) -> Iterator[RecordLine]:
    """The lines of a record; what goes wrong with what is made of them is not taken for a fault of the file."""
    try:
        yield from record_lines(file)
    except RecordError as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror or error}") from error


def _tallied(replay: Replay, turn: Turn, tally: Tally) -> Iterator[Difference]:
    before = replay.skipped
    difference = replay.repeat(turn)
    tally.counts["skipped" if replay.skipped > before else "repeated"] += 1
    if difference is not None:
        tally.counts["different"] += 1
        yield difference


def _controllers(file: Path, number: int, header: Header) -> Mapping[str, Controller[Any]]:
    """The controllers of a process as it was configured, by name."""
    if header.component not in RUNNABLE:
        raise CommandError(f"{file}: line {number}: is of the component {header.component}, which is not known")
    of = component(header.component)
    decoded = of.decoded(header.configuration, Purpose.OFFLINE)
    if isinstance(decoded, Failure):
        raise CommandError(f"{file}: line {number}: configuration: {decoded.failure()}")
    if header.version != __version__:
        note(f"note: {file}: line {number}: decided by version {header.version}, repeated by {__version__}")
    return {each.name: each for each in of.visible(decoded.unwrap().configuration, header.cluster_id)}


def _show(found: Iterator[Difference], *, as_json: bool) -> None:
    """Print differences, one by one as they are found, or as one list."""
    if as_json:
        click.echo(json.dumps([_as_json(each) for each in found], indent=2))
        return
    for each in found:
        click.echo(f"{_title(each)}: {each.summary}")
        if isinstance(each.decision, Journal) and each.decision.acted is not None:
            click.echo(f"  the process itself: {'; '.join(each.decision.acted) or 'nothing'}")
        for line in each.lines:
            click.echo(f"  {line}")


def _title(difference: Difference) -> str:
    decision = difference.decision
    what = f"{decision.controller} {decision.key}"
    if isinstance(decision, Unreadable):
        return f"{what} (turn {decision.turn})"
    part = f", part {difference.part}" if difference.part else ""
    return f"{what} at {decision.now.isoformat(timespec='milliseconds')} (turn {decision.turn}{part})"


def _as_json(difference: Difference) -> dict[str, Any]:
    decision = difference.decision
    shown: dict[str, Any] = {
        "controller": decision.controller,
        "key": str(decision.key),
        "turn": decision.turn,
    }
    if isinstance(decision, Journal):
        shown |= {"part": difference.part, "time": decision.now.isoformat()}
        if decision.acted is not None:
            shown["process"] = list(decision.acted)
    return {**shown, "difference": difference.summary, "diff": list(difference.lines)}
