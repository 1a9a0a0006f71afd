"""What answers a body, whatever it is. `make fuzz` holds a million more examples to the same laws."""

import json
from pathlib import Path
from typing import Any

import pytest

from hedgerow_adapters.admission import AdmissionObserver, Exchange, Reviewer
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
    exchange = Exchange(Reviewer([], _nothing, _nothing, observer), observer)

    answer = json.loads(await exchange.answer("/webhooks/any", "", "application/json", body))

    assert (answer["apiVersion"], answer["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert (answer["response"]["allowed"], answer["response"]["status"]["code"]) == (False, 400)
    assert answer["response"]["status"]["message"]


def _nothing(_asked: object) -> Any:
    raise AssertionError("no webhook is to be asked")


@pytest.mark.parametrize("body", [*UNREADABLE.values(), *AWKWARD.values()], ids=[*UNREADABLE, *AWKWARD])
@virtual_time
async def test_the_laws_hold_for_any_body_at_every_webhook(body: bytes, court: Court) -> None:
    for path in WEBHOOKS:
        await court.judge(path, body)


@pytest.mark.parametrize("part", range(4))
def test_the_laws_hold_for_examples_that_came_about_by_chance(part: int) -> None:
    hold(SEED, range(part * 1000, (part + 1) * 1000))
