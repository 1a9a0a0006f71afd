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
_SHOWN: Final = 16
_REQUIRED_OF_SEEDS: Final[Mapping[str, Any]] = {
    "dns": {},
    "networks": {"pods": "", "services": ""},
    "provider": {"type": "", "region": ""},
}
"""What the reference writes of every Seed, even if it is empty."""


def spec_hash(value: Mapping[str, Any]) -> str:
    """A short hash of the texts, booleans and objects in an object; names, numbers, lists and nulls do not matter."""
    return _hash_of_object(value)[:_SHOWN]


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


def _hash_of_object(value: Mapping[str, Any]) -> str:
    return _hash("".join(_hash_of_value(value[name]) for name in sorted(value)))


def _hash_of_value(value: Any) -> str:
    if isinstance(value, bool):
        return _hash("true" if value else "false")
    if isinstance(value, str):
        return _hash(value)
    return _hash_of_object(value) if isinstance(value, (dict, Mapping)) else ""


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
