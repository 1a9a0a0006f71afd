"""The rules of OperatingSystemConfigs, Workers and Etcds that no table can state.

Source: webhooks-and-tokens §9.6, §9.7, §9.8.
"""

from collections.abc import Iterator
from typing import Final

from hedgerow.admission.extension_validation.checks import (
    FIELD_IS_IMMUTABLE,
    ChangeCheck,
    all_of,
    below,
    immutable,
    one_of,
    required,
    value_at,
)
from hedgerow.admission.extension_validation.comparison import same
from hedgerow.admission.extension_validation.shape import Shape
from hedgerow.machinery.failures import Problem, duplicate, invalid, invalid_unshown, shortened
from hedgerow.machinery.failures import required as missing
from hedgerow.machinery.names import label_key_problem
from hedgerow.machinery.objects import Manifest, is_terminating, key_of
from hedgerow.machinery.scalars import parse_quantity

_OF_SECRET_REF: Final = (required("content.secretRef.name"), required("content.secretRef.dataKey"))
_ENCODING: Final = one_of(("", "b64", "gzip", "gzip+b64"))
_OF_INLINE: Final = (_ENCODING("content.inline.encoding"), required("content.inline.data"))
COUNTED_RESOURCES: Final = frozenset(
    {"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims"}
    | {"services.nodeports", "services.loadbalancers"}
)
"""Resources of Kubernetes itself that are counted, not measured."""
STORE: Final = "spec.backup.store"
PREFIX: Final = f"{STORE}.prefix"
PROVIDER: Final = f"{STORE}.provider"
PROVIDERS: Final = frozenset(
    {"aws", "S3", "azure", "ABS", "alicloud", "OSS", "openstack", "Swift", "gcp", "GCS"}
    | {"dell", "ECS", "openshift", "OCS", "Local", "local"}
)


def content(file: Manifest, where: str) -> Iterator[Problem]:
    """The content of a file comes from exactly one of two sources, which is complete."""
    from_secret = value_at(file, "content.secretRef") is not None
    from_inline = value_at(file, "content.inline") is not None
    path, detail = below(where, "content"), "either 'secretRef' or 'inline' must be provided"
    if from_secret and from_inline:
        yield invalid_unshown(path, f"{detail}, not both at the same time")
    elif not from_secret and not from_inline:
        yield missing(path, detail)
    else:
        yield from all_of(_OF_SECRET_REF if from_secret else _OF_INLINE, file, where)


def files(config: Manifest, _where: str) -> Iterator[Problem]:
    """Every file is complete, and none is written twice."""
    paths: set[str] = set()
    for index, item in enumerate(value_at(config, "spec.files") or ()):
        file, where = item or {}, f"spec.files[{index}]"
        path = value_at(file, "path")
        if path in paths:
            yield duplicate(below(where, "path"), path)
        yield from all_of((required("path"), content), file, where)
        if path:
            paths.add(path)


def is_counted(resource: str) -> bool:
    """True if there can only be a whole number of a resource; extended ones such as `nvidia.com/gpu` are counted."""
    own = "/" not in resource or "kubernetes.io/" in resource or resource.startswith("requests.")
    return resource in COUNTED_RESOURCES or (not own and label_key_problem(f"requests.{resource}") is None)


def capacity(pool: Manifest, where: str) -> Iterator[Problem]:
    """A machine has no negative amounts, and whole numbers of counted resources."""
    amounts = value_at(pool, "nodeTemplate.capacity") or {}
    for resource in sorted(amounts):
        path, amount = below(where, f"nodeTemplate.capacity.{resource}"), amounts[resource]
        quantity = parse_quantity(0 if amount is None else amount).unwrap()
        if quantity.is_negative:
            yield invalid(path, amount, "must be greater than or equal to 0")
        if is_counted(resource) and not quantity.is_whole:
            yield invalid(path, amount, "must be an integer")


def has_store(etcd: Manifest) -> bool:
    """True if backups are stored; an empty store is one."""
    return value_at(etcd, STORE) is not None


def prefix_names_etcd(etcd: Manifest, _where: str) -> Iterator[Problem]:
    """The prefix of backups differs from that of any other Etcd."""
    prefix = value_at(etcd, PREFIX) or ""
    if has_store(etcd) and not all(part in prefix for part in key_of(etcd)):
        yield invalid(PREFIX, prefix, "must contain object name and namespace")


def provider_is_supported(etcd: Manifest, _where: str) -> Iterator[Problem]:
    """The provider of the store, if there is one, can hold backups of Etcds."""
    provider = value_at(etcd, PROVIDER)
    if provider and provider not in PROVIDERS:
        yield invalid(PROVIDER, provider, f"unsupported storage provider: {shortened(provider)}")


def etcd_spec_change(expected: Shape) -> ChangeCheck:
    """The spec of an Etcd in deletion does not change; that of another one keeps its prefix while there is a store.

    Args:
        expected: the shape of the spec.
    """
    prefix_is_immutable = immutable(PREFIX)

    def check(new: Manifest, old: Manifest) -> Iterator[Problem]:
        if is_terminating(new):
            if not same(value_at(new, "spec"), value_at(old, "spec"), expected):
                yield invalid_unshown("spec", FIELD_IS_IMMUTABLE)
        elif has_store(new) and has_store(old):
            yield from prefix_is_immutable(new, old)

    return check
