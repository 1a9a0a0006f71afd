"""Nothing but request, caches and replies decides a review: not what was reviewed before, nor Python's hash seed."""

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from hedgerow.admission import AdmissionRequest, Webhook, creation
from hedgerow.admission.catalog import webhooks
from hedgerow.admission.deletion_protection import CUSTOM_RESOURCES, DEFINITIONS
from hedgerow.admission.review import V1, answer, parse_review
from hedgerow.admission.webhook import read_in
from hedgerow.api.kubernetes import DEPLOYMENTS, PODS
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.questions import Answer, NotAnswered, Question
from hedgerow.machinery.steps import Execution, Step
from hedgerow_adapters.registrations.dispatch import review_document
from tests.unit.core.admission.properties import (
    ASKED,
    CONFIG,
    DELETION_PROTECTION,
    POD_MANIFESTS,
    SUBJECTS,
    WEBHOOKS,
    anything,
    landscapes,
    surroundings,
    workloads,
)
from tests.unit.core.admission.world import answered, reviewed, world

HASH_SEEDS: Final = range(3)
OPERATIONS: Final = st.sampled_from(
    [("CREATE", "scaled"), ("DELETE", ""), ("UPDATE", "scaled"), ("DELETE", "scaled"), ("CONNECT", "scaled")]
)
"""What is done to the object of which name; without a name: to a collection."""
FAILURES: Final = (
    NotAnswered(404, "NotFound", "there is none"),
    NotAnswered(403, "Forbidden", "may not"),
    NotAnswered(500, "", "no answer"),
)
MANY: Final = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])


def requests(resource: Resource, objects: st.SearchStrategy[Any]) -> st.SearchStrategy[AdmissionRequest]:
    """Any operation on objects of a resource."""
    return st.builds(
        lambda manifest, old, operation: replace(
            creation(resource, manifest),
            old_object=old,
            operation=operation[0],
            namespace="shop",
            name=operation[1],
            uid="u",
        ),
        objects,
        objects,
        OPERATIONS,
    )


REQUESTS: Final[Sequence[tuple[Webhook, st.SearchStrategy[AdmissionRequest]]]] = [
    *((subject.webhook, requests(subject.resource, subject.objects)) for subject in SUBJECTS),
    *((webhook, requests(resource, anything(resource))) for webhook, resource in ASKED),
]
EACH_WEBHOOK: Final = pytest.mark.parametrize(
    ("webhook", "asked"), [pytest.param(*each, id=f"{place} {each[0].name}") for place, each in enumerate(REQUESTS)]
)


def replies(landscape: Sequence[Manifest]) -> st.SearchStrategy[Callable[[Question], Answer]]:
    """What live reads are told: what there is, or why they failed."""
    return st.sampled_from([partial(answered, manifests=landscape), *map(always, FAILURES)])


def always(answer: Answer) -> Callable[[Question], Answer]:
    return lambda _question: answer


def encode(value: Any) -> bytes:
    return json.dumps(value).encode()


def course(
    webhook: Webhook, request: AdmissionRequest, cached: Sequence[Manifest], reply: Callable[[Question], Answer]
) -> tuple[list[str], str]:
    """The live reads of a review, and the response, in full."""
    decision, questions = reviewed(webhook, request, world(webhook, *cached), reply)
    return [repr(each) for each in questions], json.dumps(answer(V1, request.uid, decision, encode))


@EACH_WEBHOOK
@MANY
@given(data=st.data())
def test_a_review_that_is_made_twice_reads_and_responds_the_same(
    data: st.DataObject, webhook: Webhook, asked: st.SearchStrategy[AdmissionRequest]
) -> None:
    request, landscape = data.draw(asked), data.draw(landscapes(webhook))
    cached, reply = data.draw(st.sampled_from([landscape, []])), data.draw(replies(landscape))
    (new,) = (each for each in webhooks(CONFIG) if each.path == webhook.path)

    once = course(webhook, request, cached, reply)

    assert course(webhook, request, cached, reply) == once
    assert course(new, request, cached, reply) == once, "the webhook remembers something that decides"


READING: Final[Mapping[str, st.SearchStrategy[AdmissionRequest]]] = {
    DELETION_PROTECTION: st.sampled_from(
        [
            replace(creation(each, {}), operation="DELETE", namespace="shop")
            for each in (*DEFINITIONS, *CUSTOM_RESOURCES)
        ]
    ),
    "/webhooks/high-availability-config": requests(DEPLOYMENTS, workloads(DEPLOYMENTS)),
    "/webhooks/mount-projected-service-account-token": st.builds(
        lambda pod: replace(creation(PODS, {**pod, "spec": {**pod["spec"], "serviceAccountName": "sparing"}}), uid="u"),
        POD_MANIFESTS,
    ),
}
"""Of each webhook that may have to read live, requests for which it does while its caches are empty."""


@pytest.mark.parametrize("path", READING)
@MANY
@given(data=st.data())
def test_a_review_that_is_closed_at_any_read_leaves_nothing(data: st.DataObject, path: str) -> None:
    webhook, request = WEBHOOKS[path], data.draw(READING[path])
    reply = data.draw(replies(data.draw(surroundings())))
    whole = course(webhook, request, [], reply)

    assert whole[0]
    for reads in range(1, len(whole[0]) + 1):
        review = webhook.review(request, world(webhook))
        assert isinstance(review, Coroutine)
        with Execution(review) as execution:
            step = execution.begin()
            for _ in range(1, reads):
                assert isinstance(step, Step)
                step = execution.go_on(reply(read_in(step)))
            assert isinstance(step, Step)
        assert inspect.getcoroutinestate(review) == inspect.CORO_CLOSED
        assert course(webhook, request, [], reply) == whole


def samples(strategy: st.SearchStrategy[Any], number: int) -> list[Any]:
    """Values of a strategy, always the same."""
    found: list[Any] = []

    @settings(MANY, max_examples=number, database=None, derandomize=True, phases=[Phase.generate])
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


def responses(case: Mapping[str, Any]) -> list[Any]:
    """The reads and the response of a review, with full caches and with empty ones."""
    webhook, landscape = WEBHOOKS[case["path"]], case["landscape"]
    request = parse_review(case["review"]).unwrap().request
    nothing: list[Manifest] = []
    return [course(webhook, request, each, partial(answered, manifests=landscape)) for each in (landscape, nothing)]


def test_a_process_with_another_hash_seed_reads_and_responds_the_same() -> None:
    cases = [
        {"path": webhook.path, "review": review_document(request), "landscape": landscape}
        for webhook, asked in REQUESTS
        for request, landscape in samples(st.tuples(asked, landscapes(webhook)), 8)
    ]
    program = (
        "import json, sys; from tests.unit.core.admission.test_purity import responses; "
        "print(json.dumps([*map(responses, json.load(sys.stdin))]))"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            input=json.dumps(cases),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        for seed in HASH_SEEDS
    ]

    assert [*map(json.loads, printed)] == [json.loads(json.dumps([*map(responses, cases)]))] * len(printed)
    assert printed == [printed[0]] * len(printed)
    reads = {case["path"]: False for case in cases}
    for case, made in zip(cases, json.loads(printed[0]), strict=True):
        reads[case["path"]] |= any(questions for questions, _ in made)
    assert reads == {path: path in READING for path in WEBHOOKS}
