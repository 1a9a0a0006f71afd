"""Lengths and moments as the command line takes them."""

import functools
import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import click
from returns.result import Failure
from typing_extensions import override

from hedgerow.machinery.scalars import parse_duration, parse_timestamp
from hedgerow_entrypoints.cli.options import Option

_DAYS: Final = re.compile(r"(?=[0-9])0*+([0-9]*+)d([0-9.].*)?", re.DOTALL)
_LONGEST: Final = timedelta(days=36_500)
_DIGITS: Final = 6
"""Of days; more are too many in any case."""
_YEARS: Final = range(1970, 9000)
"""In which time may begin, so that whatever follows from it can still be told as a time."""


class Span(click.ParamType[timedelta]):
    """A duration as Go spells it, with days before it: `30d`, `1d12h`, `90m`."""

    name = "duration"

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        found = _DAYS.fullmatch(value)
        days, rest = (int(found[1][: _DIGITS + 1] or 0), found[2] or "0s") if found else (0, value)
        parsed = parse_duration(rest)
        if isinstance(parsed, Failure):
            examples = '"30d", "1d12h" or "90m"'
            self.fail(f"{value!r} is no duration such as {examples}, of at most {_LONGEST.days} days", param, ctx)
        span = timedelta(days=days) + parsed.unwrap()
        if not timedelta(0) <= span <= _LONGEST:
            self.fail(f"{value!r} is not between 0 and {_LONGEST.days} days", param, ctx)
        return span


class Moment(click.ParamType[datetime]):
    """A moment as Kubernetes spells it, `2026-01-31T12:00:00Z`, or `now`."""

    name = "time"

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        moment = datetime.now(UTC).replace(microsecond=0) if value == "now" else parse_timestamp(value)
        if moment is None:
            self.fail(f'{value!r} is neither "now" nor a time such as "2026-01-31T12:00:00Z"', param, ctx)
        if moment.year not in _YEARS:
            self.fail(f"{value!r} is not in the years {_YEARS[0]} to {_YEARS[-1]}", param, ctx)
        return moment.astimezone(UTC)


class Scripted(click.ParamType[tuple[timedelta, str]]):
    """A file after a duration: `1h=ready.yaml`."""

    name = "arrival"

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[timedelta, str]:
        if isinstance(value, tuple):
            return value
        after, separator, path = value.partition("=")
        if not separator or not path:
            self.fail(f"{value!r} does not say what comes when, such as 1h=FILE", param, ctx)
        return Span().convert(after, param, ctx), path


def passing_time() -> Option:
    """The options of a command that lets time pass: `length`, `start`, `arrivals`, `seed` and `all_lines`."""
    length = "Let so much time pass on a clock that does not wait, such as 30d or 1d12h, and print what happens."
    start = "With --for: when it begins, a time or now; otherwise at the beginning of 2026."
    arrivals = "With --for: apply the objects in a file after that time; repeatable."
    options = (
        click.option("--for", "length", type=Span(), metavar="DURATION", help=length),
        click.option("--start", type=Moment(), metavar="TIME", help=start),
        click.option("--at", "arrivals", type=Scripted(), multiple=True, metavar="DURATION=FILE", help=arrivals),
        click.option("--seed", type=int, metavar="NUMBER", help="With --for: what the jitter is drawn from; 0."),
        click.option("--all-lines", is_flag=True, help="With --for: a line for everything, and nothing is folded."),
    )
    return lambda command: functools.reduce(lambda wrapped, option: option(wrapped), reversed(options), command)
