"""What a chart is rendered from: its archive, the values of its deployment, and what every chart is told of its place.

Source: controller-registration §3.6, §8.4, §8.5, §15.
"""

from base64 import b64decode
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from returns.result import Failure, Result, Success

from hedgerow.machinery.documents.document import MAX_NESTING, TOO_DEEP
from hedgerow.machinery.documents.json_reading import is_deeper
from hedgerow.machinery.failures import json_type
from hedgerow.machinery.objects import Manifest, annotations_of, key_of, labels_of
from hedgerow.machinery.reading import boolean_at, object_at, objects_at, text_at

KUBECONFIG_SECRET: Final = ("gardener", "garden", "genericKubeconfigSecretName")
"""Where charts find the name of the Secret with the kubeconfig of the garden; empty: there is none."""
_PROTECTED: Final = "seed.gardener.cloud/protected"
"""Key of the taint of a Seed that only takes Shoots of the garden itself."""


class Chart(NamedTuple):
    """A chart and its values, as a deployment has them."""

    archive: bytes
    """Empty: there is none."""
    values: Mapping[str, Any]


def read_chart(provider_config: Any) -> Result[Chart, str]:
    """The chart in the `providerConfig` of a deployment, or why it cannot be read."""
    if not isinstance(provider_config, Mapping):
        return Failure(f"providerConfig: expected an object, got {json_type(provider_config)}")
    text, values = provider_config.get("chart"), provider_config.get("values")
    if text is not None and not isinstance(text, str):
        return Failure(f"chart: expected a string, got {json_type(text)}")
    if values is not None and not isinstance(values, Mapping):
        return Failure(f"values: expected an object, got {json_type(values)}")
    if is_deeper(values, MAX_NESTING):
        return Failure(f"values: {TOO_DEEP}")
    try:
        archive = b64decode((text or "").replace("\r", "").replace("\n", ""), validate=True)
    except ValueError:
        return Failure("chart: must be encoded in base64")
    return Success(Chart(archive, values or {}))


def chart_values(
    values: Mapping[str, Any],
    seed: Manifest,
    *,
    garden_uid: str,
    garden_identity: str,
    kubeconfig_secret: str,
    version: str,
    feature_gates: Mapping[str, bool],
) -> Mapping[str, Any]:
    """The values that a chart is rendered with; those below `gardener` win over the deployment's.

    UnreadableError if the Seed has a field of another type than Gardener's. `garden_uid` is that of the Namespace
    `garden`, `kubeconfig_secret` the name of the Secret with the kubeconfig of the garden; empty: there is none.
    """
    garden = {
        "identifier": garden_uid,
        "identity": garden_uid,
        "clusterIdentity": garden_identity,
        "genericKubeconfigSecretName": kubeconfig_secret,
    }
    gardener = {
        "version": version,
        "garden": garden,
        "gardenlet": {"featureGates": dict(feature_gates)},
        "seed": _seed_values(seed),
    }
    return merged(values, {"gardener": gardener})


def _seed_values(seed: Manifest) -> Mapping[str, Any]:
    name, spec = key_of(seed).name, object_at(seed, "spec")
    volume_providers = objects_at(spec, "volume", "providers")
    visible = boolean_at(spec, "settings", "scheduling", "visible")
    return {
        "identifier": name,
        "identity": name,
        "name": name,
        "clusterIdentity": cluster_identity(seed),
        "annotations": dict(annotations_of(seed)) or None,
        "labels": dict(labels_of(seed)) or None,
        "provider": text_at(spec, "provider", "type") or "",
        "region": text_at(spec, "provider", "region") or "",
        "volumeProvider": next((text_at(each, "name") or "" for each in volume_providers), ""),
        "volumeProviders": [*volume_providers] or None,
        "ingressDomain": text_at(spec, "ingress", "domain"),
        "protected": any(taint.get("key") == _PROTECTED for taint in objects_at(spec, "taints")),
        "visible": True if visible is None else visible,
        "taints": [*objects_at(spec, "taints")] or None,
        "networks": object_at(spec, "networks"),
        "blockCIDRs": object_at(spec, "networks").get("blockCIDRs"),
        "spec": spec,
    }


def cluster_identity(seed: Manifest) -> str:
    """The identity of the seed cluster; empty: it is not known yet."""
    return text_at(seed, "status", "clusterIdentity") or ""


def merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> Mapping[str, Any]:
    """Both objects in one, the other's members first; objects in both are merged, lists are not."""
    result = {**one, **other}
    for name in one.keys() & other.keys():
        if isinstance(one[name], Mapping) and isinstance(other[name], Mapping):
            result[name] = merged(one[name], other[name])
    return result
