"""CertificateSigningRequests: what they have to say, and how they are decided."""

import base64
import itertools
from collections.abc import Mapping
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from hedgerow.machinery.objects import Resource
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response
from tests.contract.objects import causes, key, refusal
from tests.contract.targets import Send

REQUESTS = Resource(
    "certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", namespaced=False
)
SIGNER = "kubernetes.io/kubelet-serving"
_numbers = itertools.count(1)


def pem_of_a_kubelet() -> str:
    """A request for a serving certificate, encoded as a spec has it."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "system:node:worker-1")])
    signed = (
        x509.CertificateSigningRequestBuilder().subject_name(name).sign(generate_private_key(SECP256R1()), SHA256())
    )
    return base64.b64encode(signed.public_bytes(Encoding.PEM)).decode()


PEM = pem_of_a_kubelet()


def asked(send: Send, name: str = "", **spec: Any) -> Response:
    """The answer to a new request; a field of its spec that is None is left out."""
    usages = ["digital signature", "key encipherment", "server auth"]
    fields = {"request": PEM, "signerName": SIGNER, "usages": usages, **spec}
    given = {field: value for field, value in fields.items() if value is not None}
    metadata = {"name": name or f"csr-{next(_numbers)}", "labels": {"contract": "yes"}}
    return send(requests.create(REQUESTS, {"metadata": metadata, "spec": given}))


@pytest.fixture
def csr(send: Send) -> Mapping[str, Any]:
    """A request that nobody has decided."""
    created = asked(send)
    assert created.status == 201
    made: Mapping[str, Any] = created.body
    return made


def condition(name: str, status: str = "True", **fields: Any) -> dict[str, Any]:
    """A condition of a request."""
    return {"type": name, "status": status, **fields}


def written(
    send: Send, csr: Mapping[str, Any], *conditions: Mapping[str, Any], subresource: str = "approval", **fields: Any
) -> Response:
    """The answer to an update of the present version of a request."""
    name = key("", csr["metadata"]["name"])
    present = send(requests.get(REQUESTS, name)).body
    manifest = {**present, "status": {**present["status"], "conditions": list(conditions)}, **fields}
    return send(requests.update(REQUESTS, name, manifest, subresource))


def types(response: Response) -> list[str]:
    """The types of the conditions of an answered request."""
    assert response.status == 200, response.body
    return [each["type"] for each in response.body["status"].get("conditions", [])]


@pytest.mark.parametrize(
    ("spec", "cause"),
    [
        ({"request": None}, ("FieldValueInvalid", "spec.request")),
        ({"request": base64.b64encode(b"not PEM").decode()}, ("FieldValueInvalid", "spec.request")),
        ({"usages": None}, ("FieldValueRequired", "spec.usages")),
        ({"usages": ["server auth", "world domination"]}, ("FieldValueNotSupported", "spec.usages[1]")),
        ({"usages": ["server auth", "server auth"]}, ("FieldValueDuplicate", "spec.usages[1]")),
        ({"signerName": None}, ("FieldValueRequired", "spec.signerName")),
        ({"signerName": "kubelet-serving"}, ("FieldValueInvalid", "spec.signerName")),
        ({"signerName": "kubernetes.io/legacy-unknown"}, ("FieldValueInvalid", "spec.signerName")),
        ({"expirationSeconds": 599}, ("FieldValueInvalid", "spec.expirationSeconds")),
    ],
)
def test_a_request_has_to_make_sense(send: Send, spec: Mapping[str, Any], cause: tuple[str, str]) -> None:
    assert causes(asked(send, **spec)) == [cause]


def test_a_new_request_is_undecided_whatever_it_says(send: Send) -> None:
    body = {
        "metadata": {"name": f"csr-{next(_numbers)}"},
        "spec": {"request": PEM, "signerName": SIGNER, "usages": ["server auth"], "expirationSeconds": 600},
        "status": {"conditions": [condition("Approved")]},
    }

    created = send(requests.create(REQUESTS, body))

    assert (created.status, created.body["status"]) == (201, {})
    assert "generation" not in created.body["metadata"]


def test_an_update_changes_neither_what_is_asked_for_nor_the_decision(send: Send, csr: Mapping[str, Any]) -> None:
    approved = written(send, csr, condition("Approved")).body
    name = key("", csr["metadata"]["name"])

    changed = {**approved, "spec": {**approved["spec"], "usages": ["client auth"]}, "status": {}}
    answer = send(requests.update(REQUESTS, name, {**changed, "metadata": {**approved["metadata"], "labels": {}}}))

    assert answer.status == 200
    assert (answer.body["spec"], answer.body["status"]) == (approved["spec"], approved["status"])
    assert "labels" not in answer.body["metadata"]


def test_an_approval_changes_the_conditions_alone_and_says_when(send: Send, csr: Mapping[str, Any]) -> None:
    answer = written(
        send,
        csr,
        condition("Approved", reason="Checked", message="as it should be"),
        spec={**csr["spec"], "signerName": "example.com/another"},
    )

    assert answer.status == 200
    assert answer.body["spec"] == csr["spec"]
    (approval,) = answer.body["status"]["conditions"]
    assert (approval["reason"], approval["message"]) == ("Checked", "as it should be")
    assert approval["lastUpdateTime"] == approval["lastTransitionTime"]
    assert approval["lastUpdateTime"] >= csr["metadata"]["creationTimestamp"]
    assert send(requests.get(REQUESTS, key("", csr["metadata"]["name"]))).body == answer.body


def test_a_time_that_is_given_is_kept(send: Send, csr: Mapping[str, Any]) -> None:
    long_ago = "2020-01-01T00:00:00Z"
    written(send, csr, condition("Approved", lastUpdateTime=long_ago, lastTransitionTime=long_ago))

    (again,) = written(send, csr, condition("Approved", reason="Again")).body["status"]["conditions"]

    assert again["lastTransitionTime"] == long_ago
    assert again["lastUpdateTime"] > long_ago


@pytest.mark.parametrize(
    ("conditions", "cause"),
    [
        ([condition("Approved"), condition("Denied")], ("FieldValueInvalid", "status.conditions")),
        ([condition("Approved"), condition("Approved")], ("FieldValueDuplicate", "status.conditions[1].type")),
        ([condition("Approved", "False")], ("FieldValueNotSupported", "status.conditions[0].status")),
        ([condition("Other", "Perhaps")], ("FieldValueNotSupported", "status.conditions[0].status")),
        ([condition("")], ("FieldValueRequired", "status.conditions[0].type")),
        ([{"type": "Denied"}], ("FieldValueRequired", "status.conditions[0].status")),
    ],
)
def test_a_decision_is_one_and_clear(
    send: Send, csr: Mapping[str, Any], conditions: list[Mapping[str, Any]], cause: tuple[str, str]
) -> None:
    assert causes(written(send, csr, *conditions)) == [cause]


@pytest.mark.parametrize("decision", ["Approved", "Denied", "Failed"])
@pytest.mark.parametrize("subresource", ["approval", "status"])
def test_a_decision_is_for_ever(send: Send, csr: Mapping[str, Any], decision: str, subresource: str) -> None:
    assert types(written(send, csr, condition(decision), condition("Other", "Unknown"))) == [decision, "Other"]

    answer = written(send, csr, condition("Other"), subresource=subresource)

    assert causes(answer) == [("FieldValueForbidden", "status.conditions")]
    assert f'may not remove a condition of type "{decision}"' in refusal(answer)[2]
    assert types(written(send, csr, condition(decision), subresource=subresource)) == [decision]


@pytest.mark.parametrize("decision", ["Approved", "Denied"])
def test_nobody_decides_through_the_status(send: Send, csr: Mapping[str, Any], decision: str) -> None:
    answer = written(send, csr, condition(decision), subresource="status")

    assert causes(answer) == [("FieldValueForbidden", "status.conditions")]
    assert f'may not add a condition of type "{decision}"' in refusal(answer)[2]


def test_the_signer_reports_a_failure_through_the_status(send: Send, csr: Mapping[str, Any]) -> None:
    written(send, csr, condition("Approved"))

    answer = written(send, csr, condition("Approved"), condition("Failed"), subresource="status")

    assert types(answer) == ["Approved", "Failed"]
    assert answer.body["status"]["conditions"][1]["lastTransitionTime"]


def test_what_is_no_certificate_is_not_accepted_as_one(send: Send, csr: Mapping[str, Any]) -> None:
    answer = written(send, csr, subresource="status", status={"certificate": PEM})

    assert causes(answer) == [("FieldValueInvalid", "status.certificate")]


def test_a_decision_about_an_old_version_is_refused(send: Send, csr: Mapping[str, Any]) -> None:
    assert types(written(send, csr, condition("Other"))) == ["Other"]

    late = {**csr, "status": {"conditions": [condition("Approved")]}}
    answer = send(requests.update(REQUESTS, key("", csr["metadata"]["name"]), late, "approval"))

    assert refusal(answer)[:2] == (409, "Conflict")


def test_an_approval_can_be_read_and_patched(send: Send, csr: Mapping[str, Any]) -> None:
    name = key("", csr["metadata"]["name"])
    patch = {"status": {"conditions": [condition("Denied", reason="No")]}}

    assert types(send(requests.merge_patch(REQUESTS, name, patch, subresource="approval"))) == ["Denied"]
    read = send(requests.get(REQUESTS, name))
    beneath = requests.object_path(REQUESTS, name, "approval")
    assert send(Request("GET", beneath)) == read
