"""What a watch can look like to a client although the server is faithful: behind, doubled, cut off, out of step."""

import asyncio
from collections import deque
from collections.abc import Callable
from random import Random

from hedgerow_adapters.memory.reads import OnClose, OnEvent, WatchEvent
from hedgerow_adapters.memory.statuses import status_body
from tests.unit.proof.landscapes import Lens


def behind(events: Callable[[], int], at_most: float) -> Lens:
    """Each event is shown once so many later ones of its watch have come, or after some seconds."""

    def lens(on_event: OnEvent, _on_close: OnClose) -> OnEvent:
        held: deque[WatchEvent] = deque()

        def show(until: int) -> None:
            while len(held) > until:
                on_event(held.popleft())

        def overdue(event: WatchEvent) -> None:
            while any(each is event for each in held):
                on_event(held.popleft())

        def see(event: WatchEvent) -> None:
            held.append(event)
            asyncio.get_running_loop().call_later(at_most, overdue, event)
            show(events())

        return see

    return lens


def doubled(numbers: Random) -> Lens:
    """Every other event comes twice."""

    def lens(on_event: OnEvent, _on_close: OnClose) -> OnEvent:
        def see(event: WatchEvent) -> None:
            for _ in range(numbers.choice((1, 2))):
                on_event(event)

        return see

    return lens


def rewound(numbers: Random) -> Lens:
    """Now and then the latest events come once more, in their order, old versions first."""

    def lens(on_event: OnEvent, _on_close: OnClose) -> OnEvent:
        latest: deque[WatchEvent] = deque(maxlen=6)

        def see(event: WatchEvent) -> None:
            latest.append(event)
            on_event(event)
            if numbers.random() < 0.3:
                for each in list(latest)[-numbers.randint(1, 6) :]:
                    on_event(each)

        return see

    return lens


def out_of_step(numbers: Random) -> Lens:
    """Every watch has stretches of its own in which it shows nothing for up to three seconds."""

    def lens(on_event: OnEvent, _on_close: OnClose) -> OnEvent:
        shown_until = 0.0

        def see(event: WatchEvent) -> None:
            nonlocal shown_until
            loop = asyncio.get_running_loop()
            delay = numbers.choice((0.0, 0.0, 0.0, 0.1, 1.0, 3.0))
            shown_until = max(shown_until, loop.time() + delay)
            loop.call_at(shown_until, on_event, event)

        return see

    return lens


def skipping(numbers: Random, *, expires: bool) -> Lens:
    """Now and then nothing more is shown, and a while later the watch closes or says that it is too old."""

    def lens(on_event: OnEvent, on_close: OnClose) -> OnEvent:
        blind = False

        def end() -> None:
            if expires:
                on_event({"type": "ERROR", "object": status_body(410, "Expired", "too old resource version")})
            on_close(None)

        def see(event: WatchEvent) -> None:
            nonlocal blind
            if not blind and numbers.random() < 0.15:
                blind = True
                asyncio.get_running_loop().call_later(1.0, end)
            if not blind:
                on_event(event)

        return see

    return lens
