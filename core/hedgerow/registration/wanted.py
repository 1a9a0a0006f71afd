"""Which kinds and types a seed needs extension controllers for, and who needs them.

Source: controller-registration §3.3, §4.2 to §4.4.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, Self

from hedgerow.api.gardener import ROLE
from hedgerow.machinery.objects import Manifest, annotations_of, is_terminating, key_of, labels_of
from hedgerow.machinery.reading import boolean_at, each_at, list_at, text_at
from hedgerow.machinery.remembering import shared_text
from hedgerow.registration.registrations import EXTENSION, Registration, ServedType, type_id

BACKUP_BUCKET: Final = "BackupBucket"
BACKUP_ENTRY: Final = "BackupEntry"
CONTROL_PLANE: Final = "ControlPlane"
DNS_RECORD: Final = "DNSRecord"
OF_A_PROVIDER: Final = (CONTROL_PLANE, "Infrastructure", "Worker")

OWN_NEEDS: Final = "ownNeeds"
"""Field of a cached Shoot: what `own_needs` returns, which is worked out once."""
INTERNAL_DOMAIN: Final = "internal-domain"
DEFAULT_DOMAIN: Final = "default-domain"
_PROVIDER: Final = "dns.gardener.cloud/provider"
_DOMAIN: Final = "dns.gardener.cloud/domain"
DOMAIN_ANNOTATIONS: Final = (_PROVIDER, _DOMAIN)
_UNMANAGED: Final = "unmanaged"
"""The DNS provider of domains that nobody looks after."""

THE_SEED: Final = "the seed itself"


class Domains(NamedTuple):
    """The DNS providers of a seed's domains."""

    internal: str = ""
    """Of the domain of all its shoots; empty: there is none."""
    default: Mapping[str, str] = {}
    """Of each domain that shoots may have names below."""

    @classmethod
    def of(cls, secrets: Iterable[Manifest]) -> tuple[Self, tuple[str, ...]]:
        """The domains that Secrets of a seed's namespace name, and which Secrets do not say what is needed."""
        internal, default, incomplete = "", {}, []
        for secret in sorted(secrets, key=key_of):
            annotations, role = annotations_of(secret), labels_of(secret).get(ROLE)
            provider, domain = annotations.get(_PROVIDER), annotations.get(_DOMAIN)
            if not provider or not domain:
                incomplete.append(str(key_of(secret)))
            elif role == INTERNAL_DOMAIN:
                internal = provider
            elif role == DEFAULT_DOMAIN:
                default[domain] = provider
        return cls(internal, default), tuple(incomplete)

    def provider_of(self, domain: str) -> str | None:
        """The provider of the longest default domain that a domain is below; none if it is below none of them."""
        above = [name for name in self.default if domain.endswith(f".{name}")]
        return self.default[max(above, key=len)] if above else None


class Use(NamedTuple):
    """A kind and type that an object names."""

    kind: str
    type: str
    field: str
    """That names the type."""

    @property
    def id(self) -> str:
        """Kind and type."""
        return type_id(self.kind, self.type)


class ListedExtension(NamedTuple):
    """An entry of a Shoot's `spec.extensions`."""

    type: str
    disabled: bool | None
    enabled: bool | None
    provider_config: Any

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Self:
        """The entry; UnreadableError names the field that cannot be read."""
        disabled, enabled = boolean_at(entry, "disabled"), boolean_at(entry, "enabled")
        return cls(text_at(entry, "type") or "", disabled, enabled, entry.get("providerConfig"))

    @property
    def id(self) -> str:
        """Kind and type."""
        return type_id(EXTENSION, self.type)

    @property
    def is_disabled(self) -> bool:
        """True if the Shoot opts out of the extension; in doubt it does (§3.3)."""
        return self.disabled is True or self.enabled is False


def listed_extensions(shoot: Manifest) -> tuple[ListedExtension, ...]:
    """What a Shoot lists, opted out of or not."""
    return each_at(ListedExtension.of, shoot, "spec", "extensions")


def has_workers(shoot: Manifest) -> bool:
    """True if a Shoot has worker pools."""
    return bool(list_at(shoot, "spec", "provider", "workers"))


def uses_at(manifest: Manifest, fields: Mapping[str, Iterable[str]]) -> Iterator[Use]:
    """What an object names at some fields, each of which may name the type of several kinds."""
    for field, kinds in fields.items():
        if type_ := text_at(manifest, *field.split(".")):
            yield from (Use(kind, type_, field) for kind in kinds)


def uses_of_shoot(shoot: Manifest) -> Iterator[Use]:
    """What a Shoot names, but its extensions."""
    if has_workers(shoot):
        yield from uses_at(shoot, {"spec.provider.type": OF_A_PROVIDER, "spec.networking.type": ("Network",)})
    for index, provider in enumerate(each_at(_primary_provider, shoot, "spec", "dns", "providers")):
        if provider and provider != _UNMANAGED:
            yield Use(DNS_RECORD, provider, f"spec.dns.providers[{index}].type")
    for index, uses in enumerate(each_at(_uses_of_worker, shoot, "spec", "provider", "workers")):
        yield from (use._replace(field=f"spec.provider.workers[{index}].{use.field}") for use in uses)


def _primary_provider(provider: Mapping[str, Any]) -> str | None:
    type_ = text_at(provider, "type")
    return type_ if boolean_at(provider, "primary") is True else None


def _uses_of_worker(worker: Mapping[str, Any]) -> list[Use]:
    uses = [*uses_at(worker, {"machine.image.name": ("OperatingSystemConfig",)})]
    for index, runtime in enumerate(each_at(lambda each: text_at(each, "type"), worker, "cri", "containerRuntimes")):
        if runtime:
            uses.append(Use("ContainerRuntime", runtime, f"cri.containerRuntimes[{index}].type"))
    return uses


def globally_enabled(registrations: Iterable[Registration]) -> tuple[ServedType, ...]:
    """The extensions that every Shoot has unless it opts out, or has no workers."""
    return tuple(
        each for one in registrations for each in one.served if each.kind == EXTENSION and each.globally_enabled
    )


def ids_of_seed(seed: Manifest) -> frozenset[str]:
    """What a Seed itself needs; nothing once it is being deleted."""
    if is_terminating(seed):
        return frozenset()
    fields = {"spec.provider.type": OF_A_PROVIDER, "spec.dns.provider.type": (DNS_RECORD,)}
    return frozenset(use.id for use in uses_at(seed, fields))


def ids_of_shoots(
    seed: Manifest, registrations: Iterable[Registration], domains: Domains
) -> Callable[[Manifest], set[str]]:
    """The function that returns what a Shoot of the seed needs, given all registrations and the seed's domains."""
    fields = {"spec.backup.provider": (BACKUP_BUCKET, BACKUP_ENTRY), "spec.provider.type": (CONTROL_PLANE,)}
    for_all = frozenset(use.id for use in uses_at(seed, fields)).union(_dns_record(domains.internal))
    enabled = globally_enabled(registrations)
    for_workers = for_all.union(served.id for served in enabled)
    for_workerless = for_all.union(served.id for served in enabled if served.workerless_supported)

    def ids(shoot: Manifest) -> set[str]:
        own = shoot.get(OWN_NEEDS) or own_needs(shoot)
        found = set(for_workers if own["hasWorkers"] else for_workerless)
        found.difference_update(own["optedOut"])
        found.update(own["ids"])
        if own["domain"]:
            found.update(_dns_record(domains.provider_of(own["domain"])))
        return found

    return ids


def own_needs(shoot: Manifest) -> dict[str, Any]:
    """What a Shoot needs wherever it is, and what decides about the rest; UnreadableError names what is wrong.

    The first DNS provider that it names serves its domain unless that is below a default domain.
    """
    extensions = listed_extensions(shoot)
    wanted = [each.id for each in extensions if not each.is_disabled]
    return {
        "ids": sorted(map(shared_text, {*wanted, *(use.id for use in uses_of_shoot(shoot))})),
        "optedOut": sorted(each.id for each in extensions if each.is_disabled),
        "hasWorkers": has_workers(shoot),
        "domain": text_at(shoot, "spec", "dns", "domain"),
    }


def _dns_record(provider: str | None) -> tuple[str, ...]:
    return (type_id(DNS_RECORD, provider),) if provider and provider != _UNMANAGED else ()
