"""The twelve kinds whose objects are validated, and the rules of those that need no module of their own.

Source: webhooks-and-tokens §9.3.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.admission.extension_validation.checks import immutable, one_of_if_present, required
from hedgerow.admission.extension_validation.dns_record import DNS_RECORD
from hedgerow.admission.extension_validation.etcd import ETCD
from hedgerow.admission.extension_validation.kind import Kind, extension
from hedgerow.admission.extension_validation.network import NETWORK
from hedgerow.admission.extension_validation.operating_system_config import OPERATING_SYSTEM_CONFIG
from hedgerow.admission.extension_validation.shape import BYTES, LIST, TEXT
from hedgerow.admission.extension_validation.worker import WORKER
from hedgerow.machinery.failures import Problem

CONTROL_PLANE_PURPOSES: Final = ("normal", "exposure")

BACKUP_BUCKET: Final[Kind] = extension(
    "backupbuckets",
    "BackupBucket",
    required("spec.type"),
    required("spec.region"),
    required("spec.secretRef.name"),
    fields={"spec.region": TEXT, "spec.secretRef.name": TEXT},
    immutable_fields=(immutable("spec.region"),),
    namespaced=False,
)

BACKUP_ENTRY: Final[Kind] = extension(
    "backupentries",
    "BackupEntry",
    required("spec.type"),
    required("spec.bucketName"),
    required("spec.region"),
    required("spec.secretRef.name"),
    fields={"spec.bucketName": TEXT, "spec.region": TEXT, "spec.secretRef.name": TEXT},
    namespaced=False,
)

BASTION: Final[Kind] = extension(
    "bastions",
    "Bastion",
    required("spec.type"),
    required("spec.userData"),
    required("spec.ingress"),
    fields={"spec.userData": BYTES, "spec.ingress": LIST},
    immutable_fields=(immutable("spec.userData"),),
)

CONTAINER_RUNTIME: Final[Kind] = extension(
    "containerruntimes",
    "ContainerRuntime",
    required("spec.type"),
    required("spec.binaryPath"),
    required("spec.workerPool.name"),
    fields={"spec.binaryPath": TEXT, "spec.workerPool.name": TEXT},
    immutable_fields=(immutable("spec.workerPool.name"),),
)

CONTROL_PLANE: Final[Kind] = extension(
    "controlplanes",
    "ControlPlane",
    required("spec.type"),
    one_of_if_present("spec.purpose", CONTROL_PLANE_PURPOSES),
    required("spec.region"),
    required("spec.secretRef.name"),
    fields={"spec.purpose": TEXT, "spec.region": TEXT, "spec.secretRef.name": TEXT},
    immutable_fields=(immutable("spec.purpose", empty_is_absent=False), immutable("spec.region")),
)

EXTENSION: Final[Kind] = extension("extensions", "Extension", required("spec.type"), fields={})

INFRASTRUCTURE: Final[Kind] = extension(
    "infrastructures",
    "Infrastructure",
    required("spec.type"),
    required("spec.region"),
    required("spec.secretRef.name"),
    fields={"spec.region": TEXT, "spec.secretRef.name": TEXT},
    immutable_fields=(immutable("spec.region"),),
)

KINDS: Final[Mapping[str, Kind]] = {
    kind.resource.kind: kind
    for kind in (
        BACKUP_BUCKET,
        BACKUP_ENTRY,
        BASTION,
        CONTAINER_RUNTIME,
        CONTROL_PLANE,
        DNS_RECORD,
        ETCD,
        EXTENSION,
        INFRASTRUCTURE,
        NETWORK,
        OPERATING_SYSTEM_CONFIG,
        WORKER,
    )
}
"""By their names, in the order in which their webhooks are registered."""


def validate_create(kind: str, manifest: Any) -> tuple[Problem, ...]:
    """What is wrong with an object that is to be created: metadata first, then the spec.

    Args:
        kind: name of the kind, one of KINDS.
        manifest: the object, of any JSON type. Where fields have a wrong type these alone are told.
    """
    rules = KINDS[kind]
    return rules.misfits(manifest) or tuple(rules.errors(manifest))


def validate_update(kind: str, new: Any, old: Any) -> tuple[Problem, ...]:
    """What is wrong with an update: the change of metadata, that of the spec, then the new object as if created.

    Args:
        kind: name of the kind, one of KINDS.
        new: the object as it is to be, of any JSON type. Where fields have a wrong type these alone are told.
        old: the object as it is; likewise.
    """
    rules = KINDS[kind]
    return rules.misfits(new) or rules.misfits(old) or tuple(rules.update_errors(new, old))
