"""What Etcds must fulfil: their backups must not end up among those of another one.

Source: webhooks-and-tokens §9.8.
"""

from collections.abc import Iterator
from typing import Final

from hedgerow.admission.extension_validation.checks import FIELD_IS_IMMUTABLE, immutable, value_at
from hedgerow.admission.extension_validation.comparison import same
from hedgerow.admission.extension_validation.kind import Kind, declared, spec_shape
from hedgerow.admission.extension_validation.shape import DURATION, QUANTITY, TEXT
from hedgerow.api.gardener import ETCDS
from hedgerow.machinery.failures import Problem, invalid, invalid_unshown, shortened
from hedgerow.machinery.objects import Manifest, is_terminating, key_of

STORE: Final = "spec.backup.store"
PREFIX: Final = f"{STORE}.prefix"
PROVIDER: Final = f"{STORE}.provider"
PROVIDERS: Final = frozenset(
    {"aws", "S3", "azure", "ABS", "alicloud", "OSS", "openstack", "Swift", "gcp", "GCS"}
    | {"dell", "ECS", "openshift", "OCS", "Local", "local"}
)

RESOURCES: Final = ("spec.etcd.resources", "spec.backup.resources", "spec.backup.compactionResources")
FIELDS: Final = {
    PREFIX: TEXT,
    PROVIDER: TEXT,
    "spec.storageCapacity": QUANTITY,
    "spec.etcd.quota": QUANTITY,
    "spec.etcd.etcdDefragTimeout": DURATION,
    "spec.etcd.heartbeatDuration": DURATION,
    "spec.backup.deltaSnapshotMemoryLimit": QUANTITY,
    "spec.backup.deltaSnapshotPeriod": DURATION,
    "spec.backup.garbageCollectionPeriod": DURATION,
    "spec.backup.etcdSnapshotTimeout": DURATION,
    "spec.backup.leaderElection.reelectionPeriod": DURATION,
    "spec.backup.leaderElection.etcdConnectionTimeout": DURATION,
    **{f"{path}.{amounts}{{}}": QUANTITY for path in RESOURCES for amounts in ("limits", "requests")},
}
_SPEC: Final = spec_shape(FIELDS)

_prefix_is_immutable: Final = immutable(PREFIX)


def has_store(etcd: Manifest) -> bool:
    """Whether backups are stored; an empty store is one."""
    return value_at(etcd, STORE) is not None


def prefix_names_etcd(etcd: Manifest, _where: str) -> Iterator[Problem]:
    """Backups lie below a prefix that tells them from those of any other Etcd."""
    prefix = value_at(etcd, PREFIX) or ""
    if has_store(etcd) and not all(part in prefix for part in key_of(etcd)):
        yield invalid(PREFIX, prefix, "must contain object name and namespace")


def provider_is_supported(etcd: Manifest, _where: str) -> Iterator[Problem]:
    """The provider of the store, if named, is one that Etcds can be backed up to."""
    provider = value_at(etcd, PROVIDER)
    if provider and provider not in PROVIDERS:
        yield invalid(PROVIDER, provider, f"unsupported storage provider: {shortened(provider)}")


def spec_change(new: Manifest, old: Manifest) -> Iterator[Problem]:
    """The spec of an Etcd in deletion stays as it is; otherwise the prefix does, as long as there is a store."""
    if is_terminating(new):
        if not same(value_at(new, "spec"), value_at(old, "spec"), _SPEC):
            yield invalid_unshown("spec", FIELD_IS_IMMUTABLE)
    elif has_store(new) and has_store(old):
        yield from _prefix_is_immutable(new, old)


ETCD: Final[Kind] = declared(
    ETCDS,
    FIELDS,
    (prefix_names_etcd, provider_is_supported),
    spec_change,
)
