"""A source and a target cluster in memory, Secrets that want tokens, and turns of the token requestor."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import yaml

from hedgerow.api.kubernetes import SECRETS, SERVICE_ACCOUNTS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import Action, Create, Plan, WriteResult
from hedgerow.machinery.steps import Step
from hedgerow.resource_manager.token_requests import TokenRequestorConfig, token_requestor
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.memory.clock import SettableClock
from hedgerow_adapters.protocol import requests
from tests.executions import LiveSnapshot, executed, performed
from tests.in_memory import InMemory, snapshot_of

NOW = datetime(2021, 10, 4, 10, tzinfo=UTC)
KEY = ObjectKey("bar", "source")
ACCOUNT = ObjectKey("accounts", "baker")
TARGET = ObjectKey("bar", "foo")
PURPOSE = {"resources.gardener.cloud/purpose": "token-requestor"}
TO_TARGET = {"target-secret-name": TARGET.name, "target-secret-namespace": TARGET.namespace}
PREFIXES = {
    **dict.fromkeys(TO_TARGET, "token-requestor.resources.gardener.cloud/"),
    **dict.fromkeys(
        ("name", "namespace", "token-expiration-duration", "token-renew-timestamp"),
        "serviceaccount.resources.gardener.cloud/",
    ),
}
RENEW_AT = "serviceaccount.resources.gardener.cloud/token-renew-timestamp"


class CrashedError(Exception):
    """The process has ended."""


def at(moment: timedelta) -> str:
    return f"{NOW + moment:%Y-%m-%dT%H:%M:%SZ}"


def token_secret(
    data: Mapping[str, Any] | None = None,
    said: Mapping[str, str] | None = None,
    *,
    labels: Mapping[str, str] = PURPOSE,
    key: ObjectKey = KEY,
) -> dict[str, Any]:
    """A Secret for a token of the usual ServiceAccount; annotations are given by what follows on the slash."""
    annotations = annotated({"name": ACCOUNT.name, "namespace": ACCOUNT.namespace, **(said or {})})
    metadata = {"namespace": key.namespace, "name": key.name, "labels": {**labels}, "annotations": annotations}
    values = {name: encoded(value) for name, value in (data or {}).items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": values}


def annotated(said: Mapping[str, str]) -> dict[str, str]:
    return {PREFIXES[name] + name: value for name, value in said.items()}


def kubeconfig(token: str = "", *, current: str = "x", user: str = "u") -> dict[str, Any]:
    """One with two users, of which the first is the current one."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "https://x"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": user}}],
        "current-context": current,
        "users": [{"name": "u", "user": {"token": token}}, {"name": "other", "user": {"token": "untouched"}}],
    }


def encoded(value: Any) -> str:
    """A text as it is, anything else as YAML, in base64."""
    text = value if isinstance(value, str) else yaml.safe_dump(value)
    return base64.b64encode(text.encode()).decode()


def values(secret: Manifest | None) -> dict[str, str]:
    return {name: base64.b64decode(value).decode() for name, value in ((secret or {}).get("data") or {}).items()}


def lifetime(token: str) -> int:
    """For how many seconds a token is valid, as it says itself."""
    claims = token.split(".")[1]
    told = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    return int(told["exp"]) - int(told["iat"])


@dataclass(frozen=True)
class Course:
    """What happened in a turn."""

    end: Plan
    outcomes: Sequence[WriteResult]
    """Of everything that was sent, in order."""

    @property
    def actions(self) -> list[Action]:
        return [outcome.action for outcome in self.outcomes]

    @property
    def tokens(self) -> int:
        """How many tokens were made."""
        return sum(is_token_request(each.action) and each.error is None for each in self.outcomes)

    @property
    def refusals(self) -> list[int]:
        return [outcome.error.code for outcome in self.outcomes if outcome.error]

    @property
    def problems(self) -> list[str]:
        return [str(failure) for failure in self.end.failures]


def is_token_request(action: Action) -> bool:
    return isinstance(action, Create) and action.subresource == "token"


@dataclass
class Harness:
    """The two clusters, and a token requestor that works on the usual Secret."""

    config: TokenRequestorConfig = field(default_factory=TokenRequestorConfig)
    clock: SettableClock = field(default_factory=lambda: SettableClock(NOW))
    unseen: set[ObjectKey] = field(default_factory=set)
    """ServiceAccounts that the cache does not show yet."""
    still_seen: tuple[Manifest, ...] = ()
    """ServiceAccounts that the cache still shows so."""

    def __post_init__(self) -> None:
        namespaces = ["bar", ACCOUNT.namespace]
        self.source, self.target = (InMemoryCluster(now=self.clock, namespaces=namespaces) for _ in range(2))

    def given(self, secret: Manifest, *, account: Mapping[str, Any] | None = None) -> "Harness":
        """The same with a Secret, and with the ServiceAccount if its fields are given."""
        assert self.source.handle(requests.create(SECRETS, secret, secret["metadata"]["namespace"])).is_success
        if account is not None:
            manifest = {"metadata": ACCOUNT._asdict(), **account}
            assert self.target.handle(requests.create(SERVICE_ACCOUNTS, manifest, ACCOUNT.namespace)).is_success
        return self

    def given_target(self, data: Mapping[str, Any], *, key: ObjectKey = TARGET, **fields: object) -> "Harness":
        """The same with a Secret in the target cluster."""
        values = {name: encoded(value) for name, value in data.items()}
        manifest = {"metadata": key._asdict(), "data": values, **fields}
        assert self.target.handle(requests.create(SECRETS, manifest, key.namespace)).is_success
        return self

    def turn(
        self,
        *,
        jitter: float = 0.0,
        key: ObjectKey = KEY,
        meanwhile: Callable[[Action], None] = lambda _action: None,
        crash_after: int = 1_000,
    ) -> Course:
        """Let the token requestor take the turn of a Secret.

        Args:
            jitter: where renewals are in their spread.
            key: of the Secret.
            meanwhile: happens before each action is carried out.
            crash_after: how many actions are carried out before the process ends.
        """
        surroundings = InMemory({Cluster.SOURCE: self.source, Cluster.TARGET: self.target})
        controller = token_requestor(self.config)
        outcomes: list[WriteResult] = []

        def carry_out(action: Action) -> WriteResult:
            if len(outcomes) >= crash_after:
                raise CrashedError
            meanwhile(action)
            outcomes.append(surroundings.carry_out(action))
            return outcomes[-1]

        def perform(step: Step[Any]) -> Any:
            reply = performed(step, surroundings, self.clock, carry_out)
            snapshot.advance()
            return reply

        snapshot = LiveSnapshot(lambda: self._snapshot(controller))
        context = Context(self.clock(), controller.config, jitter=jitter)
        plan, _ = executed(controller.reconcile(key, snapshot, context), perform)
        for action in plan.actions:
            if carry_out(action).error and plan.in_order:
                break
        return Course(plan, outcomes)

    def _snapshot(self, controller: Any) -> Any:
        _, snapshot = snapshot_of({Cluster.SOURCE: self.source, Cluster.TARGET: self.target}, controller)
        for key in self.unseen:
            snapshot.store(SERVICE_ACCOUNTS, Cluster.TARGET).remove(key)
        for account in self.still_seen:
            snapshot.store(SERVICE_ACCOUNTS, Cluster.TARGET).put(account)
        return snapshot

    def annotate(self, said: Mapping[str, str]) -> None:
        """Have somebody change annotations of the Secret, given by what follows on the slash."""
        self.change({"metadata": {"annotations": annotated(said)}})

    def change(self, patch: Mapping[str, Any]) -> None:
        """Have somebody change the Secret."""
        assert self.source.handle(requests.merge_patch(SECRETS, KEY, patch)).is_success

    @property
    def secret(self) -> Manifest:
        found = self.source.get(SECRETS, KEY)
        assert found is not None
        return found

    @property
    def values(self) -> dict[str, str]:
        return values(self.secret)

    @property
    def target_values(self) -> dict[str, str] | None:
        found = self.target.get(SECRETS, TARGET)
        return None if found is None else values(found)

    @property
    def renew_at(self) -> str | None:
        text: str | None = self.secret["metadata"].get("annotations", {}).get(RENEW_AT)
        return text

    @property
    def account(self) -> Manifest | None:
        return self.target.get(SERVICE_ACCOUNTS, ACCOUNT)
