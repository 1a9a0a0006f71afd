"""How questions are read and answers written."""

import json
from base64 import b64decode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from hedgerow.admission import Allowed, Denied, Mutated, Mutation, creation
from hedgerow.admission.request import AdmissionRequest, GroupVersionKind, GroupVersionResource
from hedgerow.admission.review import V1, V1BETA1, BadReview, Review, answer, parse_review
from hedgerow.admission.webhook import bad_request, forbidden
from hedgerow.api.kubernetes import PODS
from hedgerow.machinery.names import dns_label_problem
from hedgerow_adapters.registrations.dispatch import review_document

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "shop"}}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
EXPECTED = "expected AdmissionReview of admission.k8s.io/v1 or admission.k8s.io/v1beta1"
NAMES = [
    "apiVersion",
    "kind",
    "request",
    *AdmissionRequest.__dataclass_fields__,
    *("subResource", "oldObject", "dryRun", "group", "version"),
]
SHAPED_LIKE_A_REVIEW = st.recursive(
    JSON | st.sampled_from([V1, V1BETA1, "AdmissionReview"]),
    lambda inner: st.dictionaries(st.sampled_from(NAMES), inner, max_size=len(NAMES)),
    max_leaves=12,
)


def encode(value: Any) -> bytes:
    return json.dumps(value).encode()


def question(**request: Any) -> dict[str, Any]:
    return {"apiVersion": V1, "kind": "AdmissionReview", "request": request}


def problem(document: Any) -> BadReview:
    return parse_review(document).failure()


@given(
    st.builds(
        AdmissionRequest,
        kind=st.builds(GroupVersionKind, st.text(), st.text(), st.text()),
        resource=st.builds(GroupVersionResource, st.text(), st.text(), st.text()),
        operation=st.sampled_from(["CREATE", "UPDATE", "DELETE", "CONNECT"]),
        namespace=st.sampled_from(["", "shop", "a" * 63]),
        name=st.text(),
        object=JSON,
        old_object=JSON,
        subresource=st.text(),
        uid=st.text(),
        dry_run=st.booleans(),
    ),
    st.sampled_from([V1, V1BETA1]),
)
def test_what_an_api_server_asks_is_read_as_it_was_meant(request: AdmissionRequest, api_version: str) -> None:
    assert parse_review(review_document(request, api_version)) == Success(Review(api_version, request))


@pytest.mark.parametrize("head", [{}, {"apiVersion": ""}, {"kind": "AdmissionReview"}, {"apiVersion": None}])
def test_a_review_that_does_not_say_what_it_is_is_read_as_v1(head: dict[str, Any]) -> None:
    review = parse_review({**head, "request": {"uid": "u"}}).unwrap()

    assert (review.api_version, review.request.uid) == (V1, "u")


def test_absent_and_null_members_are_empty() -> None:
    request = parse_review(question(kind=None, resource={"group": None}, dryRun=None, object=None)).unwrap().request

    assert request == AdmissionRequest(GroupVersionKind("", "", ""), GroupVersionResource("", "", ""), "")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (None, "expected an AdmissionReview, got null"),
        ([], "expected an AdmissionReview, got a list"),
        (1.5, "expected an AdmissionReview, got a decimal number"),
        ({}, "request: is missing"),
        ({"request": None}, "request: is missing"),
        ({"request": "now"}, "request: expected an object, got a string"),
        (
            {"apiVersion": "admission.k8s.io/v2", "request": {}},
            f"{EXPECTED}, got AdmissionReview of admission.k8s.io/v2",
        ),
        (
            {"apiVersion": "v1", "kind": "Pod"},
            f"{EXPECTED}, got Pod of v1",
        ),
        ({"kind": 1}, "kind: expected a string, got an integer"),
        (question(uid=7), "request.uid: expected a string, got an integer"),
        (question(kind="Pod"), "request.kind: expected an object, got a string"),
        (question(resource={"version": []}), "request.resource.version: expected a string, got a list"),
        (question(dryRun="yes"), "request.dryRun: expected a boolean, got a string"),
        (question(namespace=True), "request.namespace: expected a string, got a boolean"),
        (question(namespace="shop/services/http:victim:80/proxy"), f"request.namespace: {dns_label_problem('/')}"),
        (question(namespace=".."), f"request.namespace: {dns_label_problem('/')}"),
        (question(namespace="a" * 64), "request.namespace: must have at most 63 characters, has 64"),
    ],
)
def test_what_cannot_be_read_is_answered_with_what_is_wrong(document: Any, message: str) -> None:
    bad = problem(document)

    assert bad.message == message
    assert bad.api_version == V1
    assert bad.decision == bad_request(message)


@pytest.mark.parametrize(("uid", "repeated"), [("u-1", "u-1"), (7, ""), (None, ""), ({}, "")])
def test_the_answer_to_a_bad_question_repeats_its_uid_if_it_has_one(uid: Any, repeated: str) -> None:
    assert problem(question(uid=uid, name=[])).uid == repeated
    assert problem({"apiVersion": 1, "request": {"uid": uid}}).uid == repeated


@given(SHAPED_LIKE_A_REVIEW)
def test_any_document_is_read_or_refused(document: Any) -> None:
    match parse_review(document):
        case Success(Review(api_version, _)):
            assert api_version in {V1, V1BETA1}
        case Failure(BadReview(message)):
            assert message


@pytest.mark.parametrize("api_version", [V1, V1BETA1])
def test_permission_without_a_change_holds_no_patch(api_version: str) -> None:
    assert answer(api_version, "u", Allowed(), encode) == {
        "apiVersion": api_version,
        "kind": "AdmissionReview",
        "response": {"uid": "u", "allowed": True, "status": {"code": 200}},
    }


def test_rules_that_undo_each_other_leave_no_patch() -> None:
    changed = {**POD, "spec": {}}
    decision = Mutated((Mutation("there", POD, changed), Mutation("back", changed, dict(POD))))

    assert "patch" not in answer(V1, "u", decision, encode)["response"]


def test_a_change_travels_as_an_encoded_json_patch() -> None:
    response = answer(V1, "u", Mutated((Mutation("rule", POD, {**POD, "spec": {}}),)), encode)["response"]

    assert response["patchType"] == "JSONPatch"
    assert json.loads(b64decode(response["patch"])) == [{"op": "add", "path": "/spec", "value": {}}]


def test_permission_may_say_something() -> None:
    assert answer(V1, "u", Allowed(message="unexpected resource"), encode)["response"]["status"] == {
        "code": 200,
        "message": "unexpected resource",
    }


@pytest.mark.parametrize(
    ("warnings", "passed_on"),
    [
        (("tls: has no effect",), ["tls: has no effect"]),
        (("one", "two", "one"), ["one", "two"]),
        (("größer als 日本\u00a0\n\x1b[31mred\ud800",), ["größer als 日本 [31mred"]),
        (("", "\t"), None),
        (("a" * 256, "b" * 257), ["a" * 256, f"{'b' * 255}…"]),
        (tuple(f"{number:>0256}" for number in range(17)), [f"{number:>0256}" for number in range(16)]),
        ((*(f"{number:>0250}" for number in range(17)), "short"), [f"{number:>0250}" for number in range(16)]),
    ],
    ids=["one", "repeated", "characters", "empty", "long", "many", "many-with-a-rest"],
)
def test_warnings_are_as_api_servers_pass_them_on(warnings: tuple[str, ...], passed_on: list[str] | None) -> None:
    changed = Mutated((Mutation("rule", POD, {**POD, "spec": {}}),), warnings)

    for decision in (Allowed(warnings=warnings), changed):
        assert answer(V1, "u", decision, encode)["response"].get("warnings") == passed_on


@pytest.mark.parametrize(
    ("denied", "status"),
    [
        (forbidden("no"), {"status": "Failure", "code": 403, "reason": "Forbidden", "message": "no"}),
        (bad_request("what?"), {"status": "Failure", "code": 400, "message": "what?"}),
        (
            Denied(422, "bad", "Invalid", {"name": "n", "causes": []}),
            {
                "status": "Failure",
                "code": 422,
                "reason": "Invalid",
                "message": "bad",
                "details": {"name": "n", "causes": []},
            },
        ),
    ],
)
def test_a_denial_says_why(denied: Denied, status: dict[str, Any]) -> None:
    assert answer(V1, "u", denied, encode)["response"] == {"uid": "u", "allowed": False, "status": status}


def test_the_question_about_an_object_names_what_it_is() -> None:
    request = review_document(creation(PODS, POD))["request"]

    assert request["kind"] == {"group": "", "version": "v1", "kind": "Pod"}
    assert request["resource"] == {"group": "", "version": "v1", "resource": "pods"}
    assert (request["namespace"], request["name"], request["operation"]) == ("shop", "p", "CREATE")
    assert request["object"] is POD
    assert request["oldObject"] is None
