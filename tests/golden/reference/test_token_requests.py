"""What becomes of Secrets that want tokens against what the reference made of them on a real API server."""

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml

from hedgerow.api.kubernetes import SECRETS, SERVICE_ACCOUNTS
from hedgerow.api.tokens import ACCOUNT_NAME, ACCOUNT_NAMESPACE, RENEW_AT, TARGET_NAME, TARGET_NAMESPACE
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of, key_of
from hedgerow.machinery.scalars import parse_timestamp
from hedgerow.resource_manager.token_requests import token_requestor
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.simulation.clusters import in_memory
from hedgerow_adapters.simulation.planning import Planner
from tests.golden.reference.recordings import cases

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAY = 24 * 60 * 60


@pytest.mark.parametrize("recording", [*cases("token-requests.jsonl")])
def test_the_same_becomes_of_the_secret(recording: Mapping[str, Any]) -> None:
    secret = at_our_time(recording["secret"])
    said = annotations_of(secret)
    namespaces = {
        key_of(secret).namespace,
        *(said[name] for name in (ACCOUNT_NAMESPACE, TARGET_NAMESPACE) if name in said),
    }
    cluster = InMemoryCluster(now=lambda: NOW, namespaces=namespaces)
    assert cluster.handle(requests.create(SECRETS, secret, key_of(secret).namespace)).is_success

    take_turn(cluster, key_of(secret))

    stored = cluster.get(SECRETS, key_of(secret))
    assert shown(stored) == recording["dataAfter"]
    assert shown(found(cluster, said, TARGET_NAMESPACE, TARGET_NAME)) == recording["target"]
    renewed_at = annotations_of(stored or {}).get(RENEW_AT)
    assert (renewed_at != said.get(RENEW_AT)) is recording["renewed"]
    if recording["renewed"]:
        ours, lifetime = seconds_from_now(renewed_at or ""), lifetime_in(recording)
        assert ours == int(0.8 * lifetime)
        assert ours <= recording["renewIn"] + 2 <= 0.84 * lifetime + 2  # as told a moment later
    account = found(cluster, said, ACCOUNT_NAMESPACE, ACCOUNT_NAME, SERVICE_ACCOUNTS)
    kept = account and {name: account[name] for name in ("automountServiceAccountToken",) if name in account}
    assert kept == recording["serviceAccount"]


def take_turn(cluster: InMemoryCluster, key: ObjectKey) -> None:
    with Planner(token_requestor(), in_memory(cluster), NOW) as planner:
        planner.plan(key)


def at_our_time(secret: Manifest) -> Manifest:
    """The Secret of a recording, whose renewal is written as seconds from the time at which it was made."""
    said = dict(annotations_of(secret))
    if isinstance(said.get(RENEW_AT), int):
        said[RENEW_AT] = f"{NOW + timedelta(seconds=int(said[RENEW_AT])):%Y-%m-%dT%H:%M:%SZ}"
    return {**secret, "metadata": {**secret["metadata"], "annotations": said}}


def found(
    cluster: InMemoryCluster, said: Mapping[str, str], namespace: str, name: str, resource: Any = SECRETS
) -> Manifest | None:
    """The object that two annotations name; none if they name none."""
    if namespace not in said or name not in said:
        return None
    return cluster.get(resource, ObjectKey(said[namespace], said[name]))


def shown(secret: Manifest | None) -> Any:
    """The data of a Secret as recordings have them."""
    if secret is None:
        return None
    values = {name: base64.b64decode(value).decode() for name, value in (secret.get("data") or {}).items()}
    return {
        name: shown_kubeconfig(value) if name == "kubeconfig" else shown_token(value) for name, value in values.items()
    }


def shown_kubeconfig(text: str) -> Any:
    try:
        read = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    for user in read["users"]:
        if "token" in user["user"]:
            user["user"]["token"] = shown_token(user["user"]["token"])
    return read


def shown_token(value: str) -> str:
    if value.count(".") != 2:
        return value
    claims = value.split(".")[1]
    told = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    return f"TOKEN({told['exp'] - told['iat']})"


def lifetime_in(recording: Mapping[str, Any]) -> int:
    """How long the token of a recording is valid, as far as it counts."""
    text = json.dumps([recording["dataAfter"], recording["target"]])
    return min(int(text.partition("TOKEN(")[2].partition(")")[0]), DAY)


def seconds_from_now(timestamp: str) -> int:
    moment = parse_timestamp(timestamp)
    assert moment is not None
    return int((moment - NOW).total_seconds())
