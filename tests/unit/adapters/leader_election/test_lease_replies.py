"""What answers mean."""

from typing import Any

import pytest

from hedgerow.api.kubernetes import LEASES
from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.leader_election.lease import (
    Absent,
    Conflict,
    Failed,
    Found,
    LeaseReply,
    Written,
    lease_reply_of,
)
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Response

KEY = ObjectKey("garden", "hedgerow")
LEASE = {"metadata": {"name": "hedgerow", "resourceVersion": "7"}, "spec": {"holderIdentity": "us"}}
SEND = {
    "read": requests.get(LEASES, KEY),
    "create": requests.create(LEASES, LEASE, "garden"),
    "update": requests.update(LEASES, KEY, LEASE),
}
NO_LEASE = Failed("the answer is not a Lease with a resourceVersion")


def not_found(name: str) -> dict[str, Any]:
    message = f'leases "{name}" not found'
    return {"kind": "Status", "code": 404, "reason": "NotFound", "message": message, "details": {"name": name}}


@pytest.mark.parametrize(
    ("kind", "status", "body", "outcome"),
    [
        ("read", 200, LEASE, Found(LEASE)),
        ("read", 404, not_found("hedgerow"), Absent()),
        ("read", 404, not_found("other"), Failed('leases "other" not found (status code 404)')),
        ("read", 404, "404 page not found", Failed("no reason given (status code 404)")),
        ("create", 201, LEASE, Written(LEASE)),
        ("create", 409, {"reason": "AlreadyExists"}, Conflict()),
        ("create", 404, {"message": 'namespaces "garden" not found'},
         Failed('namespaces "garden" not found (status code 404)')),
        ("update", 200, LEASE, Written(LEASE)),
        ("update", 409, {"reason": "Conflict"}, Conflict()),
        ("update", 404, not_found("hedgerow"), Conflict()),
        ("update", 404, {}, Failed("no reason given (status code 404)")),
        ("update", 403, {"message": "no rights"}, Failed("no rights (status code 403)", is_forbidden=True)),
        ("read", 409, {}, Failed("no reason given (status code 409)")),
        ("update", 504, "gateway", Failed("no reason given (status code 504)")),
        ("update", 200, None, NO_LEASE),
        ("read", 200, {"metadata": {}}, NO_LEASE),
    ],
)  # fmt: skip
def test_an_answer_means(kind: str, status: int, body: Any, outcome: LeaseReply) -> None:
    assert lease_reply_of(SEND[kind], Response(status, body)) == outcome
