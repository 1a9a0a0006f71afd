"""What a host is resolved to as time goes by, on virtual time."""

import asyncio
from collections.abc import Sequence

from hedgerow.operator.namespace_network_policies.views import Resolved
from hedgerow_adapters.resolving import Endpoint, HostResolver
from tests.virtual_clock import virtual_time

FOO = Endpoint("foo.bar", 1234)


class Names:
    """Answers look-ups one after the other, the last answer for ever."""

    def __init__(self, *answers: Sequence[str] | Exception | float) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[float, str]] = []
        self.told: list[Resolved] = []
        self.problems: list[str] = []

    async def lookup(self, host: str) -> Sequence[str]:
        self.asked.append((asyncio.get_running_loop().time(), host))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, float):
            await asyncio.sleep(answer)
            return ["9.9.9.9"]
        return answer

    async def resolve_for(self, seconds: float) -> HostResolver:
        resolver = HostResolver(FOO, on_change=self.told.append, on_problem=self.problems.append, lookup=self.lookup)
        running = asyncio.create_task(resolver.run())
        await asyncio.sleep(seconds)
        running.cancel()
        return resolver


@virtual_time
async def test_addresses_are_sorted_and_told_once_for_each_change() -> None:
    names = Names(["5.6.7.8", "1.2.3.4"], ["1.2.3.4", "5.6.7.8", "1.2.3.4"], ["5.6.7.8"])

    resolver = await names.resolve_for(200)

    assert names.told == [Resolved(("1.2.3.4", "5.6.7.8"), 1234), Resolved(("5.6.7.8",), 1234)]
    assert resolver.resolved == names.told[-1]
    assert names.problems == []


@virtual_time
async def test_the_host_is_looked_up_at_once_and_every_thirty_seconds() -> None:
    names = Names(["1.2.3.4"])

    await names.resolve_for(100)

    assert names.asked == [(moment, "foo.bar") for moment in (0, 30, 60, 90)]


@virtual_time
async def test_what_cannot_be_resolved_from_the_start_is_never_in_sync() -> None:
    names = Names(OSError("no such host"))

    resolver = await names.resolve_for(100)

    assert names.told == []
    assert not resolver.resolved.addresses
    assert names.problems == ["foo.bar cannot be resolved: no such host"] * 4


@virtual_time
async def test_look_ups_that_come_to_nothing_keep_what_was_known() -> None:
    names = Names(["1.2.3.4"], OSError("no such host"), [], UnicodeError("label too long"), ["1.2.3.4"])

    resolver = await names.resolve_for(200)

    assert names.told == [Resolved(("1.2.3.4",), 1234)]
    assert resolver.resolved.addresses
    assert names.problems == [
        "foo.bar cannot be resolved: no such host",
        "foo.bar has no address",
        "foo.bar cannot be resolved: label too long",
    ]


@virtual_time
async def test_while_a_look_up_hangs_that_is_told_and_no_other_one_begins() -> None:
    names = Names(["1.2.3.4"], 1000.0)

    resolver = await names.resolve_for(200)

    assert [moment for moment, _ in names.asked] == [0, 30]
    assert names.problems == ["foo.bar was not resolved within 10 s"] * 4
    assert names.told == [resolver.resolved] == [Resolved(("1.2.3.4",), 1234)]


@virtual_time
async def test_what_a_late_look_up_finds_counts_when_the_next_one_is_due() -> None:
    names = Names(35.0, ["1.2.3.4"])

    await names.resolve_for(80)

    assert names.asked == [(0, "foo.bar"), (70, "foo.bar")]
    assert names.told == [Resolved(("9.9.9.9",), 1234), Resolved(("1.2.3.4",), 1234)]


@virtual_time
async def test_whoever_stops_resolving_leaves_no_look_up_behind() -> None:
    others = asyncio.all_tasks()

    await Names(1000.0).resolve_for(20)
    await asyncio.sleep(1)

    assert asyncio.all_tasks() == others
