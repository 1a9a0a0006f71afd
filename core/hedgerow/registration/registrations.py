"""ControllerRegistrations as decisions read them, with their defaults.

Source: controller-registration §2.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any, Final, Self

from returns.pipeline import is_successful
from returns.result import Failure

from hedgerow.api.registrations import AFTER, BEFORE, Policy
from hedgerow.machinery.failures import invalid
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.reading import (
    UnreadableError,
    boolean_at,
    each_at,
    object_at,
    objects_at,
    text_at,
    texts_at,
    with_each,
    with_value,
)
from hedgerow.machinery.scalars import format_duration, parse_duration

EXTENSION: Final = "Extension"
LIFECYCLE: Final = {"reconcile": AFTER, "delete": BEFORE, "migrate": BEFORE}
"""When an Extension is worked on if its registration does not say it."""


def type_id(kind: str, type_: str) -> str:
    """The identity of what an extension controller serves, such as `Worker/aws`."""
    return f"{kind}/{type_}"


def with_defaults(registration: Manifest) -> Manifest:
    """The registration with every default, and durations as Go spells them (§2.1); UnreadableError as readers say."""
    registration = with_each(registration, ("spec", "resources"), _resource_with_defaults)
    deployment = object_at(registration, "spec").get("deployment")
    if deployment is None or text_at(registration, "spec", "deployment", "policy") is not None:
        return registration
    return with_value(registration, ("spec", "deployment", "policy"), Policy.ON_DEMAND.value)


def _resource_with_defaults(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    is_extension = resource.get("kind") == EXTENSION
    defaults = {"primary": True, **({"globallyEnabled": False, "reconcileTimeout": "3m0s"} if is_extension else {})}
    added: dict[str, Any] = {name: value for name, value in defaults.items() if resource.get(name) is None}
    if (timeout := text_at(resource, "reconcileTimeout")) and is_successful(duration := parse_duration(timeout)):
        added["reconcileTimeout"] = format_duration(duration.unwrap())
    lifecycle = resource.get("lifecycle")
    if lifecycle is not None or is_extension:
        given = object_at(resource, "lifecycle")
        added["lifecycle"] = {**given, **{name: text for name, text in LIFECYCLE.items() if given.get(name) is None}}
    return {**resource, **added} if added else resource


@dataclass(frozen=True, slots=True)
class ServedType:
    """One kind and type that an extension controller serves."""

    kind: str
    type: str
    primary: bool
    globally_enabled: bool
    """Every Shoot has such an Extension that does not opt out."""
    workerless_supported: bool
    reconcile_timeout: timedelta | None
    """Of Extensions; none for other kinds."""
    lifecycle: Mapping[str, str]
    """Of Extensions: before or after the Shoot's kube-apiserver, by operation; empty for other kinds."""

    @property
    def id(self) -> str:
        """Kind and type."""
        return type_id(self.kind, self.type)

    @classmethod
    def of(cls, resource: Mapping[str, Any]) -> Self:
        """The entry of `spec.resources` of a registration with defaults; UnreadableError names what is wrong."""
        return cls(
            kind=text_at(resource, "kind") or "",
            type=text_at(resource, "type") or "",
            primary=boolean_at(resource, "primary") is not False,
            globally_enabled=boolean_at(resource, "globallyEnabled") is True,
            workerless_supported=boolean_at(resource, "workerlessSupported") is True,
            reconcile_timeout=_duration(text_at(resource, "reconcileTimeout")),
            lifecycle=texts_at(resource, "lifecycle"),
        )


@lru_cache(maxsize=64)
def _duration(text: str | None) -> timedelta | None:
    if text is None:
        return None
    duration = parse_duration(text)
    if isinstance(duration, Failure):
        raise UnreadableError(invalid("reconcileTimeout", text, duration.failure()))
    return duration.unwrap()


@dataclass(frozen=True, slots=True)
class Registration:
    """One ControllerRegistration."""

    name: str
    served: tuple[ServedType, ...]
    policy: str
    """One of `Policy`, unless nobody has validated the object; empty: it deploys nothing."""
    deployment_refs: tuple[str, ...]
    """Names of ControllerDeployments; the first counts."""
    manifest: Manifest
    """With defaults."""

    @classmethod
    def of(cls, manifest: Manifest) -> Self:
        """The registration with its defaults; UnreadableError names the field that cannot be read."""
        manifest = with_defaults(manifest)
        references = objects_at(manifest, "spec", "deployment", "deploymentRefs")
        return cls(
            name=key_of(manifest).name,
            served=each_at(ServedType.of, manifest, "spec", "resources"),
            policy=text_at(manifest, "spec", "deployment", "policy") or "",
            deployment_refs=tuple(text_at(reference, "name") or "" for reference in references),
            manifest=manifest,
        )

    @property
    def ids(self) -> frozenset[str]:
        """Every kind and type that it serves, as primary controller or not."""
        return frozenset(served.id for served in self.served)


class _Same:
    """A manifest that is the same one as another if it is that object."""

    __slots__ = ("manifest",)

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest

    def __hash__(self) -> int:
        return id(self.manifest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.manifest is other.manifest


@lru_cache(maxsize=512)
def _read(same: _Same) -> Registration:
    return Registration.of(same.manifest)


def read_once(manifest: Manifest) -> Registration:
    """What `Registration.of` returns, remembered for an object of a cache, which nobody changes."""
    return _read(_Same(manifest))
