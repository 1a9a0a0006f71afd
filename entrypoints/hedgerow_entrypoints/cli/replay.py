"""`hedgerow replay`: recorded decisions made again, and which of them come out otherwise."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click
from returns.result import Failure

from hedgerow.machinery.configuration.section import Purpose
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.recording.codec import Header, Turn, Unreadable
from hedgerow.machinery.recording.journal import Journal
from hedgerow.machinery.recording.playback import Difference, Replay
from hedgerow.version import __version__
from hedgerow_adapters.recording import RecordError, RecordLine, record_lines
from hedgerow_entrypoints.cli.options import output_format
from hedgerow_entrypoints.components import RUNNABLE, component
from hedgerow_entrypoints.errors import CommandError, note

DIFFERS: Final = 2
EXAMPLES: Final = """\b
Examples:
  hedgerow run resource-manager --config resource-manager.yaml --record decisions.jsonl
  hedgerow replay decisions.jsonl
  hedgerow replay decisions.jsonl --controller managedresource --key shop/cart -o json"""


@click.command(name="replay", epilog=EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--controller", "controllers", multiple=True, metavar="NAME", help="Only its decisions; repeatable.")
@click.option("--key", "keys", multiple=True, metavar="[NAMESPACE/]NAME", help="Only those about it; repeatable.")
@output_format(("diff", "json"), "How to show them.")
def command(file: Path, controllers: tuple[str, ...], keys: tuple[str, ...], *, output: str) -> None:
    """Make the decisions again that `hedgerow run --record` has recorded, and show those that come out otherwise.

    No cluster is asked: a decision is made from what it was made from then, by the controllers of this version.

    Exit code 0: all are the same; 2: some are different; 1: an error, or nothing to repeat.
    """
    about = [ObjectKey(namespace, name) for namespace, _, name in (key.rpartition("/") for key in keys)]

    def is_chosen(turn: Turn) -> bool:
        return (not controllers or turn.controller in controllers) and (not about or turn.key in about)

    counts = Counter[str]()
    _show(_repeated(file, is_chosen, counts), as_json=output == "json")
    if not counts.total():
        raise CommandError(f"{file}: holds no decision that was asked for")
    repeated, different, skipped = (counts[each] for each in ("repeated", "different", "skipped"))
    left_out = f", {skipped} left out as they, or those before them, cannot be repeated" if skipped else ""
    decisions = f"{repeated} decision{'' if repeated == 1 else 's'}"
    note(f"{decisions} repeated, {different or 'none'} different{left_out}")
    if different:
        sys.exit(DIFFERS)


def _repeated(file: Path, is_chosen: Callable[[Turn], bool], counts: Counter[str]) -> Iterator[Difference]:
    replay = Replay({})
    for line in _lines(file):
        if line.content is None:
            note(f"note: {file}: line {line.number} is torn, as the process was ended in the middle of it")
        elif isinstance(line.content, Header):
            replay = Replay(_controllers(file, line.number, line.content))
        elif is_chosen(line.content):
            before = replay.skipped
            difference = replay.repeat(line.content)
            counts["skipped" if replay.skipped > before else "repeated"] += 1
            if difference is not None:
                counts["different"] += 1
                yield difference


def _lines(file: Path) -> Iterator[RecordLine]:
    """The lines of a record. Errors of what is made of them are not taken for a fault of the file."""
    try:
        yield from record_lines(file)
    except RecordError as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror or error}") from error


def _controllers(file: Path, number: int, header: Header) -> Mapping[str, Controller[Any]]:
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
    title, turn = f"{decision.controller} {decision.key}", f"turn {decision.turn}"
    if isinstance(decision, Unreadable):
        return f"{title} ({turn})"
    part = f", part {difference.part}" if difference.part else ""
    return f"{title} at {decision.now.isoformat(timespec='milliseconds')} ({turn}{part})"


def _as_json(difference: Difference) -> dict[str, Any]:
    decision = difference.decision
    shown: dict[str, Any] = {"controller": decision.controller, "key": str(decision.key), "turn": decision.turn}
    if isinstance(decision, Journal):
        shown |= {"part": difference.part, "time": decision.now.isoformat()}
        if decision.acted is not None:
            shown["process"] = list(decision.acted)
    return {**shown, "difference": difference.summary, "diff": list(difference.lines)}
