"""What holds for every answer, whatever is asked: the laws that examples and bodies are held to.

An answer is a review's, with the UID of the question. No webhook fails with an exception. What cannot be read is denied
with code 400. The patch, applied to the object that was sent, gives what the webhook made of it; asked about that, the
webhook changes nothing more. Nobody changes what was sent in place. Both codecs accept and refuse the same bodies.
"""

import json
from base64 import b64decode
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from returns.result import Success
from typing_extensions import override

from hedgerow.admission import AdmissionRequest, Allowed, Decision, Denied, Mutated, Webhook
from hedgerow.admission.review import KIND, VERSIONS
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.questions import Answer, Question
from hedgerow_adapters.admission.exchange import Exchange
from hedgerow_adapters.admission.reviewer import AT_ONCE, AdmissionObserver, Computing, Reviewer
from hedgerow_adapters.cache import StoreSnapshot
from hedgerow_adapters.protocol.json_codec import Codec, fastest, standard
from hedgerow_adapters.protocol.json_patch import apply_json_patch
from tests.unit.core.admission.world import answered, world

PATIENCE: Final = 10.0
CODECS: Final = (standard(), fastest())


class Court:
    """All webhooks behind one exchange, in a landscape."""

    def __init__(self, webhooks: Collection[Webhook], landscape: Iterable[Manifest]) -> None:
        self._landscape = tuple(landscape)
        self._reviewer = _Recording(
            webhooks, lambda webhook: _Settled(world(webhook, *self._landscape)), self._ask, _Strict()
        )
        self._exchange = Exchange(self._reviewer, _Strict())

    async def judge(self, path: str, body: bytes) -> None:
        """Ask a webhook; raises AssertionError if a law does not hold, and whatever the webhook raises."""
        values = [_read(codec, body) for codec in CODECS]
        assert (values[0] is UNREADABLE) is (values[1] is UNREADABLE), f"the codecs disagree: {values}"
        answer = json.loads(await self._exchange.answer(path, "timeout=10s", "application/json", body))
        response = answer["response"]
        assert answer["kind"] == KIND
        assert answer["apiVersion"] in VERSIONS
        assert response["uid"] == _uid(values[0]), "the answer repeats the UID of the question, if that has one"
        if (recorded := self._reviewer.take()) is None:
            assert _denial(response) == (False, 400), response
            assert response["status"]["message"], "a denial says why"
            return
        request, decision = recorded
        await self._hold(path, request, decision, response)
        assert values[1]["request"].get("object") == request.object, "the object was changed in place"

    async def _hold(self, path: str, request: AdmissionRequest, decision: Decision, response: dict[str, Any]) -> None:
        if isinstance(decision, Denied):
            assert decision.message, "a denial says why"
            assert _denial(response) == (False, decision.code), response
            return
        patch = json.loads(b64decode(response["patch"])) if "patch" in response else []
        assert response["allowed"] is True
        assert bool(patch) is isinstance(decision, Mutated)
        if isinstance(decision, Mutated):
            assert apply_json_patch(request.object, patch) == Success(decision.object), "the patch gives something else"
            again = await self._reviewer.review(path, replace(request, object=decision.object), PATIENCE)
            self._reviewer.take()
            assert again == Allowed(), f"asked again: {again}"

    async def _ask(self, question: Question) -> Answer:
        return answered(question, self._landscape)


UNREADABLE: Final = object()


def _read(codec: Codec, body: bytes) -> Any:
    try:
        return codec.decode(body)
    except ValueError:
        return UNREADABLE


def _uid(document: Any) -> str:
    request = document.get("request") if isinstance(document, dict) else None
    uid = request.get("uid") if isinstance(request, dict) else None
    return uid if isinstance(uid, str) else ""


def _denial(response: dict[str, Any]) -> tuple[bool, int]:
    return response["allowed"], response["status"]["code"]


@dataclass(frozen=True, slots=True)
class _Settled:
    """A view that shows the landscape."""

    snapshot: StoreSnapshot

    async def completed(self) -> None:
        """It is."""


class _Recording(Reviewer):
    """Remembers what it decided last."""

    _last: tuple[AdmissionRequest, Decision] | None = None

    @override
    async def review(
        self,
        path: str,
        request: AdmissionRequest,
        patience: float,
        spent: float = 0,
        computing: Computing = AT_ONCE,
    ) -> Decision:
        decision = await super().review(path, request, patience, spent, computing)
        self._last = request, decision
        return decision

    def take(self) -> tuple[AdmissionRequest, Decision] | None:
        """The last decision, unless it was taken before."""
        last, self._last = self._last, None
        return last


class _Strict(AdmissionObserver):
    """Takes no exception of a webhook for an answer."""

    @override
    def raised(self, path: str, request: AdmissionRequest, error: Exception) -> None:
        raise AssertionError(f"{path} raised {error!r}") from error
