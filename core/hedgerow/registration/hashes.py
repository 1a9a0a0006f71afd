"""Hashes of specifications, as labels of ControllerInstallations show them. Nothing decides by them.

Source: controller-registration §3.4.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import object_at

SPEC_HASH: Final = "specHash"
"""Field of a cached object: the hash of what the cache leaves out."""
_REQUIRED_OF_SEEDS: Final[Mapping[str, Any]] = {
    "dns": {},
    "networks": {"pods": "", "services": ""},
    "provider": {"type": "", "region": ""},
}
"""What the reference writes of every Seed, even if it is empty."""


def spec_hash(value: Mapping[str, Any]) -> str:
    """A short hash of the texts, booleans and objects in an object; names, numbers, lists and nulls do not matter."""
    return _hash(value)[:16]


def seed_spec_hash(seed: Manifest) -> str:
    """The hash of a Seed's specification."""
    spec = object_at(seed, "spec")
    stated = {name: {**default, **object_at(seed, "spec", name)} for name, default in _REQUIRED_OF_SEEDS.items()}
    if spec.get("backup") is not None:
        stated["backup"] = {"secretRef": {}, **object_at(seed, "spec", "backup")}
    return spec_hash({**spec, **stated})


def deployment_hash(deployment: Manifest) -> str:
    """The hash of how a ControllerDeployment deploys."""
    return spec_hash({name: deployment.get(name) for name in ("type", "providerConfig")})


def _hash(value: Any) -> str:
    if isinstance(value, (dict, Mapping)):
        value = "".join(_hash(value[name]) for name in sorted(value))
    elif isinstance(value, bool):
        value = "true" if value else "false"
    elif not isinstance(value, str):
        return ""
    return hashlib.sha256(value.encode()).hexdigest()
