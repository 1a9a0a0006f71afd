"""How a webhook gets what it decides by."""

import asyncio
from collections.abc import Callable

import pytest
from typing_extensions import override

from hedgerow.admission import AdmissionRequest, Allowed, Decision, Denied, Webhook, creation
from hedgerow.admission.webhook import Deciding
from hedgerow.api.kubernetes import PODS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.questions import Answer, Found, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_adapters.admission.exchange import patience
from hedgerow_adapters.admission.reviewer import AdmissionObserver, Reviewer
from hedgerow_adapters.cache import StoreSnapshot
from tests.virtual_clock import virtual_time

POD = creation(PODS, {"metadata": {"name": "cart", "namespace": "shop"}})
CART, STOCK = (ObjectQuestion(PODS, ObjectKey("shop", name), Cluster.TARGET) for name in ("cart", "stock"))


class Caches:
    """A view that is complete after some seconds."""

    def __init__(self, delay: float = 0) -> None:
        self.snapshot: Snapshot = StoreSnapshot({}, {})
        self._delay = delay

    async def completed(self) -> None:
        await asyncio.sleep(self._delay)


class Heard(AdmissionObserver):
    def __init__(self) -> None:
        self.told: list[str] = []

    @override
    def denied(self, path: str, request: AdmissionRequest, denied: Denied) -> None:
        self.told.append(f"denied {denied.code}")

    @override
    def raised(self, path: str, request: AdmissionRequest, error: Exception) -> None:
        self.told.append(f"raised {error!r}")


async def answered(question: Question) -> Answer:
    assert isinstance(question, ObjectQuestion)
    await asyncio.sleep(3)
    return Found(({"name": question.key.name},)) if question == CART else NotAnswered(404, "NotFound", "no such pod")


def reviewer(
    decide: Callable[[], Decision | Deciding], *, caches: Caches | None = None, heard: Heard | None = None
) -> Reviewer:
    webhook = Webhook("stamp", "/stamp", lambda _request, _snapshot: decide())
    view = caches or Caches()
    return Reviewer([webhook], lambda _webhook: view, answered, heard or Heard())


@virtual_time
async def test_the_reads_of_a_webhook_are_performed_one_after_the_other() -> None:
    async def decide() -> Decision:
        return Allowed(message=str([type(await question).__name__ for question in (CART, STOCK)]))

    decision = await reviewer(decide).review("/stamp", POD, 10)

    assert decision == Allowed(message="['Found', 'NotAnswered']")
    assert asyncio.get_running_loop().time() == 6


@virtual_time
async def test_nobody_waits_longer_than_the_api_server_for_live_reads() -> None:
    async def decide() -> Decision:
        await CART
        return Allowed()

    heard = Heard()
    decision = await reviewer(decide, heard=heard).review("/stamp", POD, 2)

    assert decision == Denied(500, "stamp waited 2 s for its live reads")
    assert heard.told == ["denied 500"]


@virtual_time
async def test_caches_are_waited_for_once() -> None:
    slow = reviewer(Allowed, caches=Caches(delay=5))

    assert await slow.review("/stamp", POD, 4) == Denied(500, "stamp waited 4 s for its caches to be complete")
    assert await slow.review("/stamp", POD, 6) == Allowed()
    began = asyncio.get_running_loop().time()
    assert await slow.review("/stamp", POD, 6) == Allowed()
    assert asyncio.get_running_loop().time() == began


@virtual_time
async def test_a_webhook_that_reads_without_end_is_a_defect() -> None:
    async def decide() -> Decision:
        while True:
            await CART

    heard = Heard()
    denied = await reviewer(decide, heard=heard).review("/stamp", POD, 100)

    assert isinstance(denied, Denied)
    assert "the decision about a request to stamp has not ended after 8 steps" in denied.message
    assert [each.partition("(")[0] for each in heard.told] == ["raised EndlessDecisionError"]
    assert asyncio.get_running_loop().time() == 8 * 3


@virtual_time
async def test_a_time_limit_of_the_webhooks_own_is_a_defect_like_others() -> None:
    def decide() -> Decision:
        raise TimeoutError("of its own")

    assert await reviewer(decide).review("/stamp", POD, 10) == Denied(500, "panic: of its own [recovered]")


@pytest.mark.parametrize(
    ("query", "seconds"),
    [
        ("timeout=10s", 9.0),
        ("timeout=2s", 1.8),
        ("a=b&timeout=500ms", 0.45),
        ("timeout=30s", 10.0),
        ("", 10.0),
        ("timeout=", 10.0),
        ("timeout=-3s", 10.0),
        ("timeout=soon", 10.0),
    ],
)
def test_an_answer_comes_before_the_api_server_stops_to_listen(query: str, seconds: float) -> None:
    assert patience(query) == pytest.approx(seconds)
