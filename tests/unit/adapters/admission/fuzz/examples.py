"""Reviews that came about by chance, each of which its seed and its number bring back.

They begin as requests about objects that make sense.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

from hedgerow.admission import Webhook, update
from hedgerow.admission.review import VERSIONS
from hedgerow.api.gardener import HVPAS
from hedgerow.api.kubernetes import HORIZONTAL_POD_AUTOSCALERS
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.protocol.json_codec import standard
from hedgerow_adapters.registrations.dispatch import review_document
from tests.unit.adapters.admission.fuzz.sensible import DOMAIN, WORKLOADS, beginnings, fragments, sensible
from tests.unit.adapters.admission.fuzz.values import anything, changed, damaged
from tests.unit.core.admission.properties import ASKED, SUBJECTS

OPERATIONS: Final = (*("CREATE",) * 6, *("UPDATE",) * 6, "DELETE", "DELETE", "CONNECT", "")
CHANGING: Final = tuple((subject.webhook, subject.resource) for subject in SUBJECTS)
LANDSCAPES: Final = 64
"""So many different landscapes there are for each seed."""
_WRITE: Final = standard().encode


@dataclass(frozen=True, slots=True)
class Example:
    """What a webhook is asked."""

    path: str
    body: bytes
    landscape: int
    """Number of what stands around."""


def example(seed: int, number: int) -> Example:
    """One of the examples of a seed."""
    random = Random(f"{seed}/{number}")  # noqa: S311 -- no secret, but the same example every time
    webhook, resource = random.choice(ASKED if random.random() < 0.5 else CHANGING)
    body = _WRITE(_document(random, webhook, resource))
    if random.random() < 0.1:
        body = damaged(random, body)
    return Example(webhook.path, body, random.randrange(LANDSCAPES))


def _document(random: Random, webhook: Webhook, resource: Resource) -> Any:
    what = random.random()
    if what < 0.02:
        return anything(random, fragments())
    request = replace(
        update(resource, _object(random, resource), _object(random, resource) if what < 0.5 else None),
        operation=random.choice(OPERATIONS),
        namespace="shop" if random.random() < 0.95 else "",
        uid=webhook.name,
    )
    document = review_document(request, random.choice(VERSIONS))
    return changed(random, document, fragments()) if what > 0.9 else document


def _object(random: Random, resource: Resource) -> Any:
    """An object that made sense before chance changed it, more or less often; mostly it still says what it is."""
    value: Any = random.choice(beginnings(resource))
    for _ in range(random.choice((0, 1, 1, 2, 3, 5, 8))):
        value = changed(random, value, fragments())
    if isinstance(value, dict) and random.random() < 0.9:
        return {**value, "apiVersion": resource.api_version, "kind": resource.kind}
    return value


def landscape(seed: int, number: int) -> list[Manifest]:
    """What stands around: a Namespace, and some of the other objects that make sense."""
    random = Random(f"{seed}/landscape/{number}")  # noqa: S311 -- as above
    around = [each for each in sensible() if each["kind"] in {"Node", "ServiceAccount"} and random.random() < 0.7]
    scalers = [
        _scaling(random, each)
        for each in sensible()
        if each["kind"] in {HORIZONTAL_POD_AUTOSCALERS.kind, HVPAS.kind} and random.random() < 0.3
    ]
    return [_namespace(random), *around, *scalers]


def _namespace(random: Random) -> Manifest:
    choices: Mapping[str, tuple[str | None, ...]] = {
        f"{DOMAIN}/zones": (None, "", "a", "b,a", "a,b,c", ","),
        f"{DOMAIN}/zone-pinning": (None, "true", "no"),
        f"{DOMAIN}/failure-tolerance-type": (None, "", "node", "zone", "other"),
    }
    chosen = {name: random.choice(values) for name, values in choices.items()}
    annotations = {name: value for name, value in chosen.items() if value is not None}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "annotations": annotations}}


def _scaling(random: Random, scaler: Manifest) -> Manifest:
    """An autoscaler whose target is one of the workloads."""
    workloads = [each for resource in WORKLOADS for each in beginnings(resource)]
    workload = random.choice(workloads)
    target = {"apiVersion": "apps/v1", "kind": workload["kind"], "name": workload["metadata"]["name"]}
    field = "targetRef" if scaler["kind"] == HVPAS.kind else "scaleTargetRef"
    return {**scaler, "spec": {**scaler["spec"], field: target}}
