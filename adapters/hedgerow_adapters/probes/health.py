"""Named checks, and the answer to whether a process is healthy or ready.

The wording is that of Kubernetes components, on which people and scripts rely: an aggregate never tells why a check
failed, as anybody may ask.

Source: managed-resources §4.3; Kubernetes documentation, "Kubernetes API health endpoints".
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

Check: TypeAlias = Callable[[], Awaitable[str | None]]
"""Returns what is wrong, as a clause without a full stop; none: nothing."""

Checks: TypeAlias = Mapping[str, Check]
"""Checks by their names."""

TIME_LIMIT: Final = 5.0
"""Seconds after which a check counts as failed."""

HEALTHY: Final = 200
FAILED: Final = 500


async def ping() -> None:
    """The check that always passes."""


class SharedCheck:
    """A check that runs at most once in a period, however many probes ask; they share its answer."""

    def __init__(self, check: Check, period: float = 1.0) -> None:
        """A check that has not run yet.

        Args:
            check: to be shared.
            period: seconds from the beginning of one run to that of the next, at least.
        """
        self._check = check
        self._period = period
        self._run: asyncio.Task[str | None] | None = None
        self._next_at = 0.0

    async def __call__(self) -> str | None:
        """The result of the run that is under way, or of the last one, or else of a new one."""
        now = asyncio.get_running_loop().time()
        if self._run is None or (self._run.done() and now >= self._next_at):
            self._next_at = now + self._period
            self._run = asyncio.ensure_future(self._check())
        # One probe may be cancelled; the others still wait.
        return await asyncio.shield(self._run)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The checks of one path, such as `healthz`; none: it always passes."""

    name: str
    checks: Checks

    @property
    def effective_checks(self) -> Checks:
        """The checks to run."""
        return self.checks or {"ping": ping}


@dataclass(frozen=True, slots=True)
class HealthAnswer:
    """An HTTP status and the text that goes with it."""

    status: int
    text: str
    problems: Mapping[str, str]
    """What is wrong, by check: for the process's own logs."""


async def problem_of(check: Check, time_limit: float = TIME_LIMIT) -> str | None:
    """What a check says is wrong; a check that takes too long or raises has failed too."""
    try:
        async with asyncio.timeout(time_limit):
            return await check()
    except TimeoutError:
        return f"no answer within {time_limit:g} s"
    except Exception as error:  # noqa: BLE001 -- a check that breaks is a failed check, not a failed server
        return str(error) or type(error).__name__


async def health_of(
    endpoint: Endpoint, *, excluded: Collection[str] = (), verbose: bool = False, time_limit: float = TIME_LIMIT
) -> HealthAnswer:
    """The answer to all checks of an endpoint together, run side by side.

    Args:
        endpoint: holds the checks.
        excluded: names of checks that do not run.
        verbose: whether to list the checks even if all pass.
        time_limit: seconds for each check.
    """
    asked = {name: check for name, check in endpoint.effective_checks.items() if name not in excluded}
    found = await asyncio.gather(*(problem_of(check, time_limit) for check in asked.values()))
    problems = {name: problem for name, problem in zip(asked, found, strict=True) if problem is not None}
    if not problems and not verbose:
        return HealthAnswer(HEALTHY, "ok", {})
    names = sorted(endpoint.effective_checks)
    lines = [_line(name, is_excluded=name not in asked, has_failed=name in problems) for name in names]
    if unknown := sorted(set(excluded) - set(names)):
        quoted = ", ".join(f'"{name}"' for name in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {quoted}")
    lines.append(f"{endpoint.name} check {'failed' if problems else 'passed'}")
    text = "".join(f"{line}\n" for line in lines)
    return HealthAnswer(FAILED if problems else HEALTHY, text, problems)


def _line(name: str, *, is_excluded: bool, has_failed: bool) -> str:
    if is_excluded:
        return f"[+]{name} excluded: ok"
    return f"[-]{name} failed: reason withheld" if has_failed else f"[+]{name} ok"


async def health_of_one(name: str, check: Check, time_limit: float = TIME_LIMIT) -> HealthAnswer:
    """The answer to one check alone, which tells why it failed."""
    problem = await problem_of(check, time_limit)
    if problem is None:
        return HealthAnswer(HEALTHY, "ok", {})
    return HealthAnswer(FAILED, f"internal server error: {problem}\n", {name: problem})
