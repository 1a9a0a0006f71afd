"""Webhooks of a test's own, registered in a target: behind a socket for a real API server, called by the in-memory one.

A test describes its webhooks as `Hook` values, registers them, and finds in `seen` what each was asked.
"""

import time
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Final, NoReturn
from urllib.parse import urlsplit

from hedgerow.admission import AdmissionRequest, Allowed, Decision, Mutated, Mutation, Webhook
from hedgerow.admission.webhook import forbidden
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.reading import with_value
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.memory.admission import CallFailedError, WebhookCall
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response
from tests.contract.objects import CONFIG_MAPS, config_map
from tests.contract.targets import MemoryTarget, Target
from tests.contract.webhook_server import HOST, ServingPair, refusing_port, serving, silent_port
from tests.control_plane import PATIENCE
from tests.local_webhooks import LocalWebhooks

GROUP: Final = "admissionregistration.k8s.io"
MUTATING: Final = Resource(
    GROUP, "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", namespaced=False
)
VALIDATING: Final = Resource(
    GROUP, "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", namespaced=False
)
PROBE: Final = "hedgerow.dev/probe"
_IN_FORCE: Final = "in force"
_SORT: Final = 8
"""Letters that tell both kinds of registration objects from each other; a label has not much room."""
_PLACES: Final = {"up": 10001, "down": 10002, "silent": 10003}
"""Ports of the in-memory cluster's webhooks, which nobody listens on."""

Review = Callable[[AdmissionRequest], Decision]


def allow(_request: AdmissionRequest) -> Decision:
    """Let everything pass."""
    return Allowed()


def denying(message: str) -> Review:
    """Deny everything."""
    return lambda _request: forbidden(message)


def changing(change: Callable[[Manifest], Manifest]) -> Review:
    """Make something else of the object."""
    return lambda request: Mutated((Mutation("test", request.object, change(request.object)),))


def setting(*path: str, to: Any) -> Review:
    """Set a field of the object."""
    return changing(lambda manifest: with_value(manifest, path, to))


def appending(text: str) -> Review:
    """Append a text to the annotation `order`, which shows who was called after whom."""
    path = ("metadata", "annotations", "order")
    return changing(lambda manifest: with_value(manifest, path, order_of(manifest) + text))


def order_of(manifest: Manifest) -> str:
    """The annotation that `appending` makes."""
    order: str = manifest["metadata"].get("annotations", {}).get("order", "")
    return order


@dataclass
class Hook:
    """One webhook of a test, with the fields of its registration that matter to the test."""

    name: str
    review: Review = allow
    resource: Resource = CONFIG_MAPS
    subresources: Sequence[str] = ("",)
    """Of the resource; the empty one is the resource itself."""
    operations: Sequence[str] = ("CREATE", "UPDATE", "DELETE")
    state: str = "up"
    """Or "down", if nobody listens where it should be, or "silent", if somebody does and never answers."""
    answers: Webhook | None = None
    """Who answers in place of `review`."""
    registration: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the registration, or others than usual."""
    seen: list[AdmissionRequest] = field(default_factory=list)
    """What it was asked, the latest last."""

    @property
    def webhook(self) -> Webhook:
        """As servers take it."""
        return self.answers or Webhook(self.name, f"/{self.name}", lambda request, _snapshot: self(request))

    def __call__(self, request: AdmissionRequest) -> Decision:
        self.seen.append(request)
        return self.review(request)

    def registered(self, client: Mapping[str, str], namespace: str) -> dict[str, Any]:
        """Its entry in a registration object."""
        resources = [f"{self.resource.plural}/{each}".rstrip("/") for each in self.subresources]
        return {
            "name": f"{self.name}.hedgerow.dev",
            "clientConfig": client,
            "rules": [
                {
                    "operations": self.operations,
                    "apiGroups": [self.resource.group],
                    "apiVersions": [self.resource.version],
                    "resources": resources,
                }
            ],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            **self.registration,
        }


class Bench:
    """Registers hooks in a target, to be asked about the objects of one namespace, and about cluster-wide ones."""

    def __init__(self, target: Target, namespace: str, pair: ServingPair) -> None:
        self._target = target
        self._namespace = namespace
        self._pair = pair
        self._hooks: list[Hook] = []
        self._webhooks: list[Webhook] = []
        self._ports: Mapping[str, int] = {}
        self._cleanup = ExitStack()

    def close(self) -> None:
        """Take everything back."""
        self._cleanup.close()

    def mutating(self, *hooks: Hook, name: str = "a") -> None:
        """Register webhooks that change objects, in an object of that name; returns once they are asked."""
        self._register_hooks(MUTATING, name, hooks)

    def validating(self, *hooks: Hook, name: str = "a") -> None:
        """Register webhooks that check objects, in an object of that name; returns once they are asked."""
        self._register_hooks(VALIDATING, name, hooks)

    def rendered(self, registration: Manifest, webhooks: Sequence[Webhook]) -> None:
        """Register webhooks by a registration object as it is, but for the address; returns once they are asked."""
        resource = MUTATING if registration["kind"] == MUTATING.kind else VALIDATING
        paths = {webhook.path for webhook in webhooks}
        self._reach(webhooks, {"up"})
        entries = [{**entry, "clientConfig": self._client(_path_of(entry), "up")} for entry in registration["webhooks"]]
        assert {_path_of(entry) for entry in registration["webhooks"]} <= paths
        self._register(resource, registration["metadata"]["name"], entries)

    def url(self, hook: Hook, seconds: int = 10) -> str:
        """The URL at which a target asks a hook."""
        return f"https://{HOST}:{self._ports[hook.state]}{hook.webhook.path}?timeout={seconds}s"

    def _register_hooks(self, resource: Resource, name: str, hooks: Sequence[Hook]) -> None:
        self._hooks += hooks
        self._reach([hook.webhook for hook in hooks], {hook.state for hook in hooks} | {"up"})
        entries = [hook.registered(self._client(hook.webhook.path, hook.state), self._namespace) for hook in hooks]
        self._register(resource, f"{name}.{self._namespace}", entries)
        for hook in self._hooks:
            hook.seen.clear()

    def _register(self, resource: Resource, name: str, entries: Sequence[Manifest]) -> None:
        probe = _PROBE.registered(self._client(_PROBE.webhook.path, "up"), self._namespace)
        probed = f"{resource.kind[:_SORT]}-{name}"
        probe["objectSelector"] = {"matchLabels": {PROBE: probed}}
        created = self._target.send(
            requests.create(resource, {"metadata": {"name": name}, "webhooks": [probe, *entries]})
        )
        assert created.status == 201, created.body
        self._cleanup.callback(self._wait_for, probed, in_force=False)
        self._cleanup.callback(self._target.send, requests.delete(resource, ObjectKey("", name)))
        self._wait_for(probed, in_force=True)

    def _wait_for(self, probed: str, *, in_force: bool) -> None:
        """A server hears of registrations a moment after it has stored them, and of their end likewise."""
        probing = dry(requests.create(CONFIG_MAPS, config_map("probe", labels={PROBE: probed}), self._namespace))
        until(lambda: self._target.send(probing), lambda answer: (_IN_FORCE in str(answer.body)) is in_force)

    def _reach(self, webhooks: Sequence[Webhook], states: Collection[str]) -> None:
        """Make webhooks reachable, and servers in certain states besides."""
        self._webhooks = [_PROBE.webhook, *webhooks, *self._webhooks]
        if isinstance(self._target, MemoryTarget):
            self._target.cluster.answer_webhooks(_caller(self._target.cluster, self._webhooks))
            self._ports = _PLACES
            return
        places: Mapping[str, Callable[[], AbstractContextManager[int]]] = {
            "up": lambda: serving([_PROBE.webhook, *webhooks], self._pair, self._target),
            "down": refusing_port,
            "silent": silent_port,
        }
        self._ports = {state: self._cleanup.enter_context(places[state]()) for state in states}

    def _client(self, path: str, state: str) -> dict[str, str]:
        return {
            "url": f"https://{HOST}:{self._ports[state]}{path}",
            "caBundle": b64encode(self._pair.certificate_pem).decode("ascii"),
        }


_PROBE: Final = Hook("probe", denying(_IN_FORCE), operations=["CREATE"])
"""Denies objects with a certain label: as soon as it does, the registration that it is part of is in force."""


def _path_of(entry: Manifest) -> str:
    client = entry["clientConfig"]
    path: str = client["service"]["path"] if "service" in client else urlsplit(client["url"]).path
    return path


def dry(request: Request) -> Request:
    """The same request, to be answered and not done. A deletion says so among its options."""
    if request.method == "DELETE":
        return replace(request, body={**request.body, "dryRun": ["All"]})
    return replace(request, query={**request.query, "dryRun": "All"})


def until(ask: Callable[[], Response], enough: Callable[[Response], bool]) -> Response:
    """The first answer that is as wanted."""
    deadline = time.monotonic() + PATIENCE
    while not enough(answer := ask()):
        assert time.monotonic() < deadline, answer.body
        time.sleep(0.02)
    return answer


def _caller(cluster: InMemoryCluster, webhooks: Sequence[Webhook]) -> Callable[[WebhookCall], Mapping[str, Any]]:
    """What the network and the webhooks are for the in-memory cluster."""
    local = LocalWebhooks(cluster, webhooks)
    failures = {
        _PLACES["down"]: f"dial tcp {HOST}:{_PLACES['down']}: connect: connection refused",
        _PLACES["silent"]: "context deadline exceeded",
    }

    def call(question: WebhookCall) -> Mapping[str, Any]:
        failure = failures.get(question.entry.client.port)
        return _fail(failure) if failure else local(question)

    return call


def _fail(problem: str) -> NoReturn:
    raise CallFailedError(problem)
