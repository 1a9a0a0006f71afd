"""Whether every type that an object of the garden uses is registered, and every extension that a Shoot lists is clear.

A type counts as registered where a registration controls it primarily.

Source: controller-registration §2.6, §3.3.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self

from hedgerow.api.gardener import SHOOTS
from hedgerow.api.registrations import BACKUP_BUCKETS, BACKUP_ENTRIES, SEEDS
from hedgerow.machinery.failures import Problem, duplicate, invalid, required
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import boolean_at, each_at, list_at, object_at, text_at
from hedgerow.registration.registrations import EXTENSION, Registration, type_id

UNMANAGED: Final = "unmanaged"


class Use(NamedTuple):
    """A kind and type that an object needs a controller for."""

    kind: str
    type: str | None
    field: str
    """Where the object names the type."""


@dataclass(frozen=True, slots=True)
class RegisteredTypes:
    """What extension controllers serve."""

    primary: frozenset[str]
    """Kinds and types that have a primary controller."""
    for_workerless: frozenset[str]
    """Kinds and types that Shoots without workers may have."""

    @classmethod
    def of(cls, registrations: Iterable[Registration]) -> Self:
        """Those of all registrations."""
        served = [each for registration in registrations for each in registration.served]
        return cls(
            frozenset(each.id for each in served if each.primary),
            frozenset(each.id for each in served if each.workerless_supported),
        )


def unregistered(kind: str, manifest: Manifest, registered: RegisteredTypes, bucket: Manifest | None) -> list[str]:
    """What an object uses although nobody serves it, each as one sentence.

    Args:
        kind: BackupBucket, BackupEntry, Seed or Shoot.
        manifest: the object; UnreadableError if it cannot be read.
        registered: by all registrations.
        bucket: the BackupBucket of a BackupEntry.
    """
    missing = [
        f'given {kind} uses non-registered {use.kind} type: {use.field} ("{use.type}")'
        for use in _uses(kind, manifest, bucket)
        if use.type and type_id(use.kind, use.type) not in registered.primary
    ]
    if kind == SHOOTS.kind and not list_at(manifest, "spec", "provider", "workers"):
        missing += [
            f'given Shoot is workerless and uses non-supported extension type: {_type_field(index)} ("{listed.type}")'
            for index, listed in enumerate(_extensions(manifest))
            if listed.type and type_id(EXTENSION, listed.type) not in registered.for_workerless
        ]
    return missing


class ListedExtension(NamedTuple):
    """An entry of a Shoot's `spec.extensions`."""

    type: str | None
    disabled: bool | None
    enabled: bool | None

    @classmethod
    def of(cls, extension: Mapping[str, Any]) -> Self:
        """The entry; UnreadableError names the field that cannot be read."""
        return cls(text_at(extension, "type"), boolean_at(extension, "disabled"), boolean_at(extension, "enabled"))


def extension_problems(shoot: Manifest) -> Iterator[Problem]:
    """What is wrong with the extensions that a Shoot lists."""
    seen = set()
    for index, listed in enumerate(_extensions(shoot)):
        path = f"spec.extensions[{index}]"
        if not listed.type:
            yield required(f"{path}.type", "field must not be empty")
        elif listed.type in seen:
            yield duplicate(f"{path}.type", listed.type)
        seen.add(listed.type)
        if listed.enabled is not None and listed.enabled is listed.disabled:
            yield invalid(f"{path}.enabled", listed.enabled, "must not contradict disabled")


def _uses(kind: str, manifest: Manifest, bucket: Manifest | None) -> Iterator[Use]:
    provider = text_at(manifest, "spec", "provider", "type") if kind != BACKUP_ENTRIES.kind else None
    if kind == BACKUP_BUCKETS.kind:
        yield Use("BackupBucket", provider, "spec.provider.type")
    elif kind == BACKUP_ENTRIES.kind:
        yield Use("BackupEntry", text_at(bucket or {}, "spec", "provider", "type"), "spec.bucketName")
    elif kind == SEEDS.kind:
        yield Use("ControlPlane", provider, "spec.provider.type")
        for backup in ("BackupBucket", "BackupEntry"):
            yield Use(backup, text_at(manifest, "spec", "backup", "provider"), "spec.backup.provider")
        if object_at(manifest, "spec").get("ingress") is not None:
            yield Use("DNSRecord", text_at(manifest, "spec", "dns", "provider", "type"), "spec.dns.provider.type")
    else:
        yield from _uses_of_shoot(manifest, provider)


def _uses_of_shoot(shoot: Manifest, provider: str | None) -> Iterator[Use]:
    workers = each_at(_types_of_worker, shoot, "spec", "provider", "workers")
    if workers:
        for kind in ("ControlPlane", "Infrastructure", "Worker"):
            yield Use(kind, provider, "spec.provider.type")
        yield Use("Network", text_at(shoot, "spec", "networking", "type"), "spec.networking.type")
    for index, type_ in enumerate(each_at(_primary_type, shoot, "spec", "dns", "providers")):
        yield Use("DNSRecord", type_, f"spec.dns.providers[{index}].type")
    for index, listed in enumerate(_extensions(shoot)):
        yield Use(EXTENSION, listed.type, _type_field(index))
    for index, (image, runtimes) in enumerate(workers):
        path = f"spec.provider.workers[{index}]"
        yield Use("OperatingSystemConfig", image, f"{path}.machine.image.name")
        for place, runtime in enumerate(runtimes):
            yield Use("ContainerRuntime", runtime, f"{path}.cri.containerRuntimes[{place}].type")


def _primary_type(dns_provider: Mapping[str, Any]) -> str | None:
    type_ = text_at(dns_provider, "type")
    return type_ if boolean_at(dns_provider, "primary") and type_ != UNMANAGED else None


def _types_of_worker(worker: Mapping[str, Any]) -> tuple[str | None, tuple[str | None, ...]]:
    """The image of its machines, and its container runtimes."""
    runtimes = each_at(lambda runtime: text_at(runtime, "type"), worker, "cri", "containerRuntimes")
    return text_at(worker, "machine", "image", "name"), runtimes


def _extensions(shoot: Manifest) -> tuple[ListedExtension, ...]:
    return each_at(ListedExtension.of, shoot, "spec", "extensions")


def _type_field(index: int) -> str:
    return f"spec.extensions[{index}].type"
