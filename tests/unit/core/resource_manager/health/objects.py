"""Live objects as a cluster shows them, each with what its test is about."""

from typing import Any

from hypothesis import strategies as st

from hedgerow.machinery.objects import Kind, Manifest, key_of
from hedgerow.resource_manager.health.verdicts import Observed

SKIP = "resources.gardener.cloud/skip-health-check"

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
CONTENTS = st.dictionaries(
    st.sampled_from(
        ("replicas", "updateStrategy", "type", "phase", "conditions", "loadBalancer", "status", "observedGeneration")
    ),
    JSON,
)
"""What the spec or the status of an object may hold where nobody has checked it."""


def live(api_version: str, kind: str, *, spec: Any = None, status: Any = None, **metadata: Any) -> dict[str, Any]:
    """An object `ns/name` of a kind."""
    manifest = {"apiVersion": api_version, "kind": kind, "metadata": {"namespace": "ns", "name": "name", **metadata}}
    return manifest | ({} if spec is None else {"spec": spec}) | ({} if status is None else {"status": status})


def condition(condition_type: str, status: str, reason: str = "", message: str = "") -> dict[str, str]:
    return {"type": condition_type, "status": status, "reason": reason, "message": message}


def deployment(*conditions: Manifest, spec: Any = None, **metadata: Any) -> dict[str, Any]:
    return live("apps/v1", "Deployment", spec=spec, status={"conditions": list(conditions)}, **metadata)


def skipped(manifest: Manifest, value: str = "true") -> dict[str, Any]:
    """The same object, exempt from checks."""
    annotations = {**manifest["metadata"].get("annotations", {}), SKIP: value}
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}}


def pod(phase: str, **metadata: Any) -> dict[str, Any]:
    return live("v1", "Pod", status={"phase": phase}, **metadata)


def load_balancer(*ingress: Manifest) -> dict[str, Any]:
    return live("v1", "Service", spec={"type": "LoadBalancer"}, status={"loadBalancer": {"ingress": list(ingress)}})


def existing(live: Manifest, pod_count: int | None = None) -> Observed:
    """A live object that names its kind, as a verdict looks at it."""
    return Observed(Kind.of(live), key_of(live), live, pod_count)
