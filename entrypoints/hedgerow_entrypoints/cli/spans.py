"""Lengths and moments as the command line takes them. What cannot be read raises click.BadParameter."""

import functools
import re
from datetime import UTC, datetime, timedelta
from typing import Final

import click
from returns.result import Failure

from hedgerow.machinery.scalars import parse_duration, parse_timestamp
from hedgerow_entrypoints.cli.options import Option

_DAYS: Final = re.compile(r"(?=[0-9])0*+([0-9]*+)d([0-9.].*)?", re.DOTALL)
_LONGEST: Final = timedelta(days=36_500)
_DIGITS: Final = 6
"""Of days; more are too many in any case."""
_YEARS: Final = range(1970, 9000)
"""In which time may begin, so that whatever follows from it can still be told as a time."""


def parse_span(text: str) -> timedelta:
    """A duration as Go spells it, with days before it: `30d`, `1d12h`, `90m`."""
    found = _DAYS.fullmatch(text)
    days, rest = (int(found[1][: _DIGITS + 1] or 0), found[2] or "0s") if found else (0, text)
    parsed = parse_duration(rest)
    if isinstance(parsed, Failure):
        examples = '"30d", "1d12h" or "90m"'
        raise click.BadParameter(f"{text!r} is no duration such as {examples}, of at most {_LONGEST.days} days")
    span = timedelta(days=days) + parsed.unwrap()
    if not timedelta(0) <= span <= _LONGEST:
        raise click.BadParameter(f"{text!r} is not between 0 and {_LONGEST.days} days")
    return span


def parse_moment(text: str) -> datetime:
    """A moment as Kubernetes spells it, `2026-01-31T12:00:00Z`, or `now`."""
    moment = datetime.now(UTC).replace(microsecond=0) if text == "now" else parse_timestamp(text)
    if moment is None:
        raise click.BadParameter(f'{text!r} is neither "now" nor a time such as "2026-01-31T12:00:00Z"')
    if moment.year not in _YEARS:
        raise click.BadParameter(f"{text!r} is not in the years {_YEARS[0]} to {_YEARS[-1]}")
    return moment.astimezone(UTC)


def parse_arrival(text: str) -> tuple[timedelta, str]:
    """A file after a duration: `1h=ready.yaml`."""
    after, separator, path = text.partition("=")
    if not separator or not path:
        raise click.BadParameter(f"{text!r} does not say what comes when, such as 1h=FILE")
    return parse_span(after), path


def passing_time() -> Option:
    """The options of a command that lets time pass: `length`, `start`, `arrivals`, `seed` and `all_lines`."""
    length = click.option(
        "--for",
        "length",
        callback=lambda _context, _option, text: None if text is None else parse_span(text),
        metavar="DURATION",
        help="Let so much time pass on a clock that does not wait, such as 30d or 1d12h, and print what happens.",
    )
    start = click.option(
        "--start",
        callback=lambda _context, _option, text: None if text is None else parse_moment(text),
        metavar="TIME",
        help="With --for: when it begins, a time or now; otherwise at the beginning of 2026.",
    )
    arrivals = click.option(
        "--at",
        "arrivals",
        multiple=True,
        callback=lambda _context, _option, texts: tuple(map(parse_arrival, texts)),
        metavar="DURATION=FILE",
        help="With --for: apply the objects in a file after that time; repeatable.",
    )
    seed = click.option("--seed", type=int, metavar="NUMBER", help="With --for: what the jitter is drawn from; 0.")
    lines = click.option("--all-lines", is_flag=True, help="With --for: a line for everything, and nothing is folded.")
    options = (lines, seed, arrivals, start, length)
    return lambda command: functools.reduce(lambda wrapped, option: option(wrapped), options, command)
