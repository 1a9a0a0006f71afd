"""What answers a body, whatever it is. `make fuzz` holds a million more examples to the same laws."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hedgerow.admission import Allowed, Webhook
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_adapters.admission.exchange import Exchange
from hedgerow_adapters.admission.reviewer import AdmissionObserver, Reviewer
from hedgerow_adapters.cache import StoreSnapshot
from hedgerow_adapters.listening.connections import CrowdedError
from hedgerow_adapters.protocol import json_codec
from tests.unit.adapters.admission.fuzz.examples import landscape
from tests.unit.adapters.admission.fuzz.laws import Court
from tests.unit.adapters.admission.fuzz.trials import hold
from tests.unit.core.admission.properties import WEBHOOKS
from tests.virtual_clock import virtual_time

BODIES = Path(__file__).parent / "bodies"
UNREADABLE = {path.name: path.read_bytes() for path in sorted(BODIES.glob("unreadable/*"))}
AWKWARD = {path.name: path.read_bytes() for path in sorted(BODIES.glob("awkward/*"))}
SEED = 1
CODECS = pytest.mark.parametrize("codec", [json_codec.standard(), json_codec.fastest()], ids=["standard", "fastest"])


class Caches:
    """A view of nothing that is complete after some seconds."""

    def __init__(self, delay: float = 0) -> None:
        self.snapshot: Snapshot = StoreSnapshot({}, {})
        self._delay = delay

    async def completed(self) -> None:
        await asyncio.sleep(self._delay)


@pytest.fixture(scope="module")
def court() -> Court:
    """All webhooks, with something around."""
    return Court(WEBHOOKS.values(), landscape(SEED, 0))


@CODECS
@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE)
@virtual_time
async def test_a_body_that_holds_no_review_is_denied_with_code_400(
    body: bytes, codec: json_codec.Codec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_codec, "decode", codec.decode)
    observer = AdmissionObserver()
    exchange = Exchange(Reviewer([UNASKED], lambda _webhook: Caches(), _nothing, observer), observer)

    answer = json.loads(await exchange.answer(UNASKED.path, "", "application/json", body))

    assert (answer["apiVersion"], answer["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert (answer["response"]["allowed"], answer["response"]["status"]["code"]) == (False, 400)
    assert answer["response"]["status"]["message"]


def _nothing(*_asked: object) -> Any:
    raise AssertionError("no webhook is to be asked")


UNASKED = Webhook("any", "/webhooks/any", _nothing)


@pytest.mark.parametrize("body", [*UNREADABLE.values(), *AWKWARD.values()], ids=[*UNREADABLE, *AWKWARD])
@virtual_time
async def test_the_laws_hold_for_any_body_at_every_webhook(body: bytes, court: Court) -> None:
    for path in WEBHOOKS:
        await court.judge(path, body)


@pytest.mark.parametrize("part", range(4))
def test_the_laws_hold_for_examples_that_came_about_by_chance(part: int) -> None:
    hold(SEED, range(part * 1000, (part + 1) * 1000))


@virtual_time
async def test_a_review_is_parsed_only_once_its_caches_are_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed_at: list[float] = []

    def decode(text: bytes) -> Any:
        parsed_at.append(asyncio.get_running_loop().time())
        return json.loads(text)

    monkeypatch.setattr(json_codec, "decode", decode)
    observer = AdmissionObserver()
    webhook = Webhook("any", "/any", lambda _request, _snapshot: Allowed())
    exchange = Exchange(Reviewer([webhook], lambda _webhook: Caches(delay=5), _nothing, observer), observer)
    body = _review()
    began = asyncio.get_running_loop().time()

    late = json.loads(await exchange.answer("/any", "timeout=4s", "application/json", body))
    in_time = json.loads(await exchange.answer("/any", "timeout=10s", "application/json", body))

    assert late["response"]["status"]["message"] == "any waited 3.6 s for its caches to be complete"
    assert late["response"]["uid"] == "1"
    assert in_time["response"]["allowed"]
    assert [at - began for at in parsed_at] == [pytest.approx(3.6), pytest.approx(8.6)]


@virtual_time
async def test_a_huge_review_whose_caches_are_never_complete_is_not_parsed_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_codec, "decode", _nothing)
    observer = AdmissionObserver()
    exchange = Exchange(Reviewer([UNASKED], lambda _webhook: Caches(delay=5), _nothing, observer), observer)
    body = _review(filler=[[]] * 200_000)
    began = asyncio.get_running_loop().time()

    with pytest.raises(CrowdedError, match="caches are not complete"):
        await exchange.answer(UNASKED.path, "timeout=4s", "application/json", body)

    assert asyncio.get_running_loop().time() - began == pytest.approx(3.6)


def _review(**content: Any) -> bytes:
    request = {"uid": "1", **content}
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).encode()
