"""What has to change of a NetworkPolicy that exists, so that it is as it should be.

Source: network-and-nodes §1.2.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.machinery.objects import Manifest, annotations_of, labels_of
from hedgerow.machinery.patches import merge_patch
from hedgerow.network_policies.manifests import PolicySpec

_NOTHING: Mapping[str, Any] = {}
_RULES: Final = ("ingress", "egress")


def correction(
    live: Manifest, *, labels: Mapping[str, str], annotations: Mapping[str, str], spec: PolicySpec
) -> dict[str, Any]:
    """The merge patch that brings the managed fields back; empty if nothing differs.

    What else somebody has added, such as further labels, is not ours. An empty list of rules equals an absent one.

    Args:
        live: the policy as it is.
        labels: those that it has to have.
        annotations: those that it has to have.
        spec: what it has to say.
    """
    metadata: dict[str, Any] = {}
    if missing := _missing(labels, labels_of(live)):
        metadata["labels"] = missing
    if missing := _missing(annotations, annotations_of(live)):
        metadata["annotations"] = missing
    patch: dict[str, Any] = {"metadata": metadata} if metadata else {}
    present = _without_empty_rules(live.get("spec"))
    if present != spec:
        patch["spec"] = merge_patch(present, spec)
    return patch


def _missing(wanted: Mapping[str, str], present: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in wanted.items() if present.get(name) != value}


def _without_empty_rules(spec: object) -> Mapping[str, Any]:
    if not isinstance(spec, (dict, Mapping)):
        return _NOTHING
    return {name: value for name, value in spec.items() if value or name not in _RULES}
