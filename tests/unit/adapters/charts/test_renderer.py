"""Charts are rendered a few at a time, each of them once."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from hedgerow.machinery.charts import RenderChart, RenderedChart, RenderedFile, RenderError
from hedgerow_adapters.charts.renderer import ChartRenderer

SOON = 20.0


def chart(release: str, **values: object) -> RenderChart:
    return RenderChart(b"chart", release, "namespace", values, "v1.29.4")


def file(release: str) -> RenderedFile:
    return RenderedFile("test/templates/a.yaml", ({"release": release, "n": 1.5, "list": [1, None]},))


class Kitchen:
    """Renders what it is allowed to, and notes in which order it began."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.stopped: list[str] = []
        self.most_at_once = 0
        self.reply: dict[str, RenderError | Exception] = {}
        self._at_once = 0
        self._changed = threading.Condition()
        self._released: set[str] = set()

    def run(self, asked: RenderChart, stop: threading.Event) -> RenderedChart:
        release = asked.release
        with self._changed:
            self.begun.append(release)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            self._changed.notify_all()
            self._changed.wait_for(lambda: release in self._released or stop.is_set(), SOON)
            self._at_once -= 1
            if stop.is_set():
                self.stopped.append(release)
            self._changed.notify_all()
        reply = self.reply.get(release, (file(release),))
        if isinstance(reply, Exception):
            raise reply
        return reply

    def release(self, *releases: str) -> None:
        with self._changed:
            self._released.update(releases)
            self._changed.notify_all()

    def await_begun(self, *releases: str) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: set(releases) <= set(self.begun), SOON), self.begun

    def await_stopped(self, release: str) -> None:
        with self._changed:
            while release not in self.stopped:
                assert self._changed.wait(SOON)

    def poke(self) -> None:
        """Let those look who were stopped."""
        with self._changed:
            self._changed.notify_all()


@pytest.fixture
def kitchen() -> Kitchen:
    return Kitchen()


@pytest.fixture
def renderer(kitchen: Kitchen) -> Iterator[ChartRenderer]:
    with ChartRenderer(kitchen.run, at_once=2) as renderer:
        yield renderer
        kitchen.release(*kitchen.begun, *"abcdefgh")


def test_at_most_so_many_are_rendered_at_once_and_the_others_in_their_order(
    kitchen: Kitchen, renderer: ChartRenderer
) -> None:
    futures = [renderer.submit(chart(name)) for name in "abcde"]
    kitchen.await_begun("a", "b")
    assert sorted(kitchen.begun) == ["a", "b"]

    kitchen.release("a")
    kitchen.await_begun("c")
    kitchen.release(*"bcde")

    assert [each.result(SOON) for each in futures] == [(file(name),) for name in "abcde"]
    assert kitchen.begun[2:] == ["c", "d", "e"]
    assert kitchen.most_at_once == 2


def test_equal_requests_share_one_rendering(kitchen: Kitchen, renderer: ChartRenderer) -> None:
    futures = [renderer.submit(chart("a", x=1)) for _ in range(5)]
    other = renderer.submit(chart("b", x=1))
    kitchen.release("a", "b")

    assert {each.result(SOON) == (file("a"),) for each in futures} == {True}
    assert other.result(SOON) == (file("b"),)
    assert sorted(kitchen.begun) == ["a", "b"]


def test_a_rendering_is_kept(kitchen: Kitchen, renderer: ChartRenderer) -> None:
    kitchen.release("a")
    first = renderer.submit(chart("a", x=1)).result(SOON)

    assert renderer.submit(chart("a", x=1)).result(0) == first
    assert kitchen.begun == ["a"]


@pytest.mark.parametrize(
    "other",
    [
        RenderChart(b"other", "a", "namespace", {"x": 1}, "v1.29.4"),
        RenderChart(b"chart", "a", "other", {"x": 1}, "v1.29.4"),
        RenderChart(b"chart", "a", "namespace", {"x": 1.5}, "v1.29.4"),
        RenderChart(b"chart", "a", "namespace", {"x": 1}, "v1.30.0"),
        RenderChart(b"chart", "a", "namespace", {"x": 1}, "v1.29.4", ("apps/v1",)),
    ],
)
def test_everything_that_a_chart_sees_tells_renderings_apart(
    kitchen: Kitchen, renderer: ChartRenderer, other: RenderChart
) -> None:
    kitchen.release("a")
    renderer.submit(chart("a", x=1)).result(SOON)
    renderer.submit(other).result(SOON)

    assert kitchen.begun == ["a", "a"]


@pytest.mark.parametrize(
    ("error", "runs"),
    [(RenderError("chart", "x"), 1), (RenderError("timeout", "x"), 2), (RenderError("unavailable", "x"), 2)],
)
def test_only_what_another_run_would_come_to_as_well_is_kept(
    kitchen: Kitchen, renderer: ChartRenderer, error: RenderError, runs: int
) -> None:
    kitchen.release("a")
    kitchen.reply["a"] = error

    assert [renderer.submit(chart("a")).result(SOON) for _ in range(2)] == [error, error]
    assert len(kitchen.begun) == runs


def test_the_oldest_rendering_goes_when_there_is_no_room(kitchen: Kitchen) -> None:
    kitchen.release(*"abc")
    with ChartRenderer(kitchen.run, at_once=1, most_kept=200) as renderer:
        for name in "abacab":
            assert renderer.submit(chart(name)).result(SOON) == (file(name),)

    assert kitchen.begun == ["a", "b", "c", "b"]


def test_a_rendering_that_nobody_waits_for_any_more_is_stopped_and_not_kept(
    kitchen: Kitchen, renderer: ChartRenderer
) -> None:
    first, second = renderer.submit(chart("a")), renderer.submit(chart("a"))
    kitchen.await_begun("a")
    first.cancel()
    kitchen.poke()
    assert not kitchen.stopped

    second.cancel()
    kitchen.poke()
    kitchen.await_stopped("a")
    kitchen.release("a")

    assert renderer.submit(chart("a")).result(SOON) == (file("a"),)
    assert kitchen.begun == ["a", "a"]


def test_a_rendering_in_the_queue_that_nobody_waits_for_any_more_does_not_begin(
    kitchen: Kitchen, renderer: ChartRenderer
) -> None:
    for name in "ab":
        renderer.submit(chart(name))
    unwanted, last = renderer.submit(chart("c")), renderer.submit(chart("d"))
    unwanted.cancel()
    kitchen.release(*"abcd")

    assert last.result(SOON) == (file("d"),)
    assert "c" not in kitchen.begun


def test_a_defect_is_told_to_those_who_wait(kitchen: Kitchen, renderer: ChartRenderer) -> None:
    kitchen.release("a")
    kitchen.reply["a"] = KeyError("defect")

    with pytest.raises(KeyError):
        renderer.submit(chart("a")).result(SOON)


def nested(levels: int) -> object:
    value: object = None
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [{1}, nested(99_999)], ids=["set", "deep"])
def test_values_that_are_no_json_are_an_error_of_the_chart(renderer: ChartRenderer, value: object) -> None:
    error = renderer.submit(chart("a", x=value)).result(0)

    assert error == RenderError("chart", "its values are no JSON, or nested too deeply")


def test_the_end_stops_what_is_under_way(kitchen: Kitchen) -> None:
    futures: list[Future[RenderedChart]] = []
    with ChartRenderer(kitchen.run, at_once=1) as renderer:
        futures += [renderer.submit(chart(name)) for name in "ab"]
        kitchen.await_begun("a")
        threading.Timer(0.05, kitchen.poke).start()

    assert kitchen.stopped == ["a"]
    assert kitchen.begun == ["a"]


async def test_a_coroutine_that_is_cancelled_leaves_the_others_their_rendering(
    kitchen: Kitchen, renderer: ChartRenderer
) -> None:
    first, second = (asyncio.create_task(renderer.render(chart("a"))) for _ in range(2))
    await asyncio.to_thread(kitchen.await_begun, "a")

    first.cancel()
    kitchen.release("a")

    assert await second == (file("a"),)
    assert first.cancelled()
