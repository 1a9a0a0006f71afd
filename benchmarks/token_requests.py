"""Secrets that ask for tokens, all created at once: from the first creation until the last one has its token.

The ServiceAccounts are there, as they are whenever tokens are renewed. Both times are those of the audit log, so that
nobody has to watch. The bare client beside it creates as many Secrets, asks for a token for each, and writes it into
the Secret.
"""

import itertools
import json
import statistics
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from benchmarks.bare_client import send_all, send_chains
from benchmarks.cluster import wait_for_calm
from benchmarks.figures import Figure
from benchmarks.launch import Command
from benchmarks.prepared import Prepared, change, creation, creation_of_namespace
from benchmarks.process import ResourceManager
from tests.control_plane import ControlPlane

COUNT: Final = 1_000
ROUNDS: Final = 3
AGAINST_BARE: Final = 1.3
WORKING: Final = "token-requestor"
RENEWAL: Final = "serviceaccount.resources.gardener.cloud/token-renew-timestamp"
TOKEN: Final = "QUFB" * 300
"""As long as one."""


def measure(command: Command, count: int = COUNT, rounds: int = ROUNDS) -> Iterator[Figure]:
    """The time against the bare client."""
    bare, filled = list[float](), list[float]()
    names = itertools.count()
    with ControlPlane() as plane:
        for number in range(rounds + 1):
            bare.append(_bare(plane, f"bare-{next(names)}", count))
            filled.append(_filled(command, plane, f"filled-{next(names)}", count))
            if number == 0:  # an API server takes its time over the first objects of every kind
                bare.clear()
                filled.clear()
    mine, base = statistics.median(filled), statistics.median(bare)
    what = f"{count} Secrets that ask for tokens"
    yield Figure(f"{what}: bare client", base, "s")
    yield Figure(f"{what}: created to all filled", mine, "s")
    yield Figure.at_most(f"{what}: against the bare client", mine / base, "", AGAINST_BARE)


def _bare(plane: ControlPlane, namespace: str, count: int) -> float:
    _prepare(plane, namespace, count)
    return send_chains(plane, [_chain(namespace, number) for number in range(count)])


def _filled(command: Command, plane: ControlPlane, namespace: str, count: int) -> float:
    _prepare(plane, namespace, count)
    controllers = {"tokenRequestor": {"enabled": True, "sourceNamespaces": [namespace]}}
    with ResourceManager.at_work(command, "token-requests", plane, controllers=controllers) as process:
        process.time_of("Controller works", WORKING)
        wait_for_calm(plane)
        position = plane.audit_position()
        send_all(plane, [creation(_secret(namespace, number)) for number in range(count)])
        written = _Written(plane, position, namespace)
        process.wait_for(lambda: written.number() >= count, "has not filled all Secrets")
        return written.seconds()


class _Written:
    """What has been written to the Secrets of a namespace since a position in the audit log."""

    def __init__(self, plane: ControlPlane, position: int, namespace: str) -> None:
        self._plane = plane
        self._position = position
        self._namespace = namespace

    def number(self) -> int:
        """How many Secrets have got a token, as far as the log tells by now; it is read when all is calm."""
        wait_for_calm(self._plane)
        return len(self._events("patch"))

    def seconds(self) -> float:
        """From the arrival of the first Secret until the last token was stored."""
        first = min(self._events("create"), key=lambda event: str(event["requestReceivedTimestamp"]))
        last = max(self._events("patch"), key=lambda event: str(event["stageTimestamp"]))
        return _time(last["stageTimestamp"]) - _time(first["requestReceivedTimestamp"])

    def _events(self, verb: str) -> list[dict[str, Any]]:
        events = self._plane.audit_events(verbs={verb}, since=self._position)
        return [event for event in events if self._is_of_secret(event["objectRef"])]

    def _is_of_secret(self, reference: Mapping[str, Any]) -> bool:
        return (reference["resource"], reference.get("namespace")) == ("secrets", self._namespace)


def _time(timestamp: str) -> float:
    return datetime.fromisoformat(timestamp).timestamp()


def _prepare(plane: ControlPlane, namespace: str, count: int) -> None:
    send_all(plane, [creation_of_namespace(namespace)])
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    accounts = (
        {"metadata": {"name": _account(number)}, "automountServiceAccountToken": False} for number in range(count)
    )
    send_all(plane, (Prepared("POST", path, json.dumps(each).encode()) for each in accounts))


def _chain(namespace: str, number: int) -> tuple[Prepared, ...]:
    """What has to be written for one Secret: itself, a request for the token, and the token."""
    secret = _secret(namespace, number)
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{_account(number)}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 43200}}
    renewal = {"metadata": {"annotations": {RENEWAL: "2126-01-01T00:00:00Z"}}, "data": {"token": TOKEN}}
    return creation(secret), Prepared("POST", path, json.dumps(request).encode()), change(secret, renewal)


def _account(number: int) -> str:
    return f"account-{number}"


def _secret(namespace: str, number: int) -> dict[str, Any]:
    annotations = {
        "serviceaccount.resources.gardener.cloud/name": _account(number),
        "serviceaccount.resources.gardener.cloud/namespace": namespace,
    }
    labels = {"resources.gardener.cloud/purpose": "token-requestor"}
    metadata = {"name": f"secret-{number}", "namespace": namespace, "labels": labels, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}
