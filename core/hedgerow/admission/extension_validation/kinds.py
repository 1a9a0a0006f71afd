"""The twelve kinds whose objects are validated, as tables.

Source: webhooks-and-tokens §9.3 to §9.8.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.admission.extension_validation.checks import (
    Line,
    each,
    field,
    immutable,
    not_empty_if_present,
    not_negative_if_present,
    one_of,
    present,
    required,
)
from hedgerow.admission.extension_validation.kind import Kind, extension, kind_of, types_of
from hedgerow.admission.extension_validation.networking import (
    POD_CIDR,
    SERVICE_CIDR,
    addressing,
    name_is_domain,
    single_alias,
    values_fit_record_type,
)
from hedgerow.admission.extension_validation.rules import (
    PREFIX,
    PROVIDER,
    capacity,
    etcd_spec_change,
    files,
    prefix_names_etcd,
    provider_is_supported,
)
from hedgerow.admission.extension_validation.shape import BYTES, DURATION, INTEGER, LIST, QUANTITY, TEXT, shape
from hedgerow.api.gardener import ETCDS
from hedgerow.machinery.failures import Problem

REGION: Final = field("spec.region", TEXT, required, is_immutable=True)
SECRET: Final = field("spec.secretRef.name", TEXT, required)
_ETCD_RESOURCES: Final = ("spec.etcd.resources", "spec.backup.resources", "spec.backup.compactionResources")

_ETCD: Final = (
    Line({PREFIX: TEXT}, (prefix_names_etcd,)),
    Line({PROVIDER: TEXT}, (provider_is_supported,)),
    field("spec.storageCapacity", QUANTITY),
    field("spec.etcd.quota", QUANTITY),
    field("spec.etcd.etcdDefragTimeout", DURATION),
    field("spec.etcd.heartbeatDuration", DURATION),
    field("spec.backup.deltaSnapshotMemoryLimit", QUANTITY),
    field("spec.backup.deltaSnapshotPeriod", DURATION),
    field("spec.backup.garbageCollectionPeriod", DURATION),
    field("spec.backup.etcdSnapshotTimeout", DURATION),
    field("spec.backup.leaderElection.reelectionPeriod", DURATION),
    field("spec.backup.leaderElection.etcdConnectionTimeout", DURATION),
    *(field(f"{path}.{amounts}{{}}", QUANTITY) for path in _ETCD_RESOURCES for amounts in ("limits", "requests")),
)

_POOL: Final = (
    field("machineType", TEXT, required),
    field("machineImage.name", TEXT, required),
    field("machineImage.version", TEXT, required),
    field("architecture", TEXT, one_of(("amd64", "arm64"), unless=(None,))),
    field("name", TEXT, required),
    field("userData", BYTES, present),
    Line({"nodeTemplate.capacity{}": QUANTITY}, (capacity,)),
    field("machineControllerManager.machineDrainTimeout", DURATION),
    field("machineControllerManager.machineHealthTimeout", DURATION),
    field("machineControllerManager.machineCreationTimeout", DURATION),
)

_FILE: Final = ("path", "content.secretRef.name", "content.secretRef.dataKey", "content.inline.encoding")

KINDS: Final[Mapping[str, Kind]] = {
    kind.resource.kind: kind
    for kind in (
        extension("backupbuckets", "BackupBucket", REGION, SECRET, namespaced=False),
        extension(
            "backupentries",
            "BackupEntry",
            field("spec.bucketName", TEXT, required),
            field("spec.region", TEXT, required),
            SECRET,
            namespaced=False,
        ),
        extension(
            "bastions",
            "Bastion",
            field("spec.userData", BYTES, required, is_immutable=True),
            field("spec.ingress", LIST, required),
        ),
        extension(
            "containerruntimes",
            "ContainerRuntime",
            field("spec.binaryPath", TEXT, required),
            field("spec.workerPool.name", TEXT, required, is_immutable=True),
        ),
        extension(
            "controlplanes",
            "ControlPlane",
            field("spec.purpose", TEXT, one_of(("normal", "exposure"), unless=(None,))),
            Line(change_checks=(immutable("spec.purpose", empty_is_absent=False),)),
            REGION,
            SECRET,
        ),
        extension(
            "dnsrecords",
            "DNSRecord",
            SECRET,
            field("spec.region", TEXT, not_empty_if_present),
            field("spec.zone", TEXT, not_empty_if_present),
            Line({"spec.name": TEXT}, (name_is_domain,), (immutable("spec.name"),)),
            field("spec.recordType", TEXT, one_of(("A", "AAAA", "CNAME", "TXT")), is_immutable=True),
            field("spec.values[]", TEXT, required),
            Line(checks=(single_alias, values_fit_record_type)),
            field("spec.ttl", INTEGER, not_negative_if_present),
        ),
        kind_of(ETCDS, _ETCD, etcd_spec_change(shape(types_of(_ETCD)).inside["spec"])),
        extension("extensions", "Extension"),
        extension("infrastructures", "Infrastructure", REGION, SECRET),
        extension(
            "networks",
            "Network",
            field("spec.ipFamilies[]", TEXT),
            field(POD_CIDR, TEXT, is_immutable=True),
            field(SERVICE_CIDR, TEXT, is_immutable=True),
            Line(checks=(addressing,), change_checks=(immutable("spec.ipFamilies"),)),
        ),
        extension(
            "operatingsystemconfigs",
            "OperatingSystemConfig",
            field(
                "spec.purpose",
                TEXT,
                required,
                one_of(("provision", "reconcile"), unless=(None, "")),
                is_immutable=True,
            ),
            each(
                "spec.units",
                field("name", TEXT, required),
                each("dropIns", field("name", TEXT, required), field("content", TEXT, required)),
            ),
            Line({f"spec.files[].{path}": TEXT for path in (*_FILE, "content.inline.data")}, (files,)),
        ),
        extension("workers", "Worker", REGION, SECRET, each("spec.pools", *_POOL)),
    )
}
"""By their names, in the order in which their webhooks are registered."""


def validate_create(kind: str, manifest: Any) -> tuple[Problem, ...]:
    """What is wrong with an object that is to be created: metadata first, then the spec.

    An object may be of any JSON type. If fields have a wrong type, only these are returned.
    """
    rules = KINDS[kind]
    return rules.misfits(manifest) or tuple(rules.errors(manifest))


def validate_update(kind: str, new: Any, old: Any) -> tuple[Problem, ...]:
    """What is wrong with an update: the change of metadata, that of the spec, then the new object as if created."""
    rules = KINDS[kind]
    return rules.misfits(new) or rules.misfits(old) or tuple(rules.errors(new, old))
