"""The twelve kinds whose objects are validated, as tables, and how the validation answers the API server.

Source: webhooks-and-tokens §1.2, §3.2, validators; §9.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from hedgerow.admission.extension_validation import metadata, rules
from hedgerow.admission.extension_validation.checks import (
    FIELD_IS_IMMUTABLE,
    ChangeCheck,
    Check,
    Line,
    all_of,
    each,
    field,
    immutable,
    not_empty_if_present,
    not_negative_if_present,
    one_of,
    present,
    required,
    value_at,
)
from hedgerow.admission.extension_validation.values import (
    BYTES,
    DURATION,
    INTEGER,
    LIST,
    QUANTITY,
    TEXT,
    Shape,
    differences,
    misfits,
    shape,
)
from hedgerow.admission.request import CONNECT, CREATE, DELETE, UPDATE, AdmissionRequest
from hedgerow.admission.webhook import INVALID, Allowed, Decision, Denied, Webhook, bad_request, type_problem
from hedgerow.api.gardener import ETCDS, extension_resource
from hedgerow.machinery.failures import Problem, forbidden, invalid_unshown, joined
from hedgerow.machinery.names import dns_subdomain_problem
from hedgerow.machinery.objects import Manifest, Resource, is_terminating, key_of

NAME: Final = "extension-validation"
MOST_DIFFERENCES: Final = 10
MOST_ERRORS: Final = 100
"""In one denial; an object may hold as many errors as bytes."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind, complete."""

    resource: Resource
    shape: Shape
    """The types of the fields that the checks read, metadata included."""
    checks: tuple[Check, ...]
    """What must hold for every object, metadata included, in the order of the errors."""
    change_checks: tuple[ChangeCheck, ...]
    """What must hold for a change of the spec, beside that, unless the object is in deletion."""
    lists_differences: bool
    """True if the error of a changed spec in deletion lists the differences."""

    def misfits(self, manifest: Any) -> tuple[Problem, ...]:
        """The fields that have another type than the kind gives them; checks must not see such an object."""
        return tuple(misfits(manifest, self.shape))

    def errors(self, new: Manifest, old: Manifest | None = None) -> Iterator[Problem]:
        """What the checks find wrong with an object: first with the change of an old one, if there is one."""
        if old is not None:
            of_spec = (self._spec_stays,) if is_terminating(new) else self.change_checks
            for check in (*metadata.UPDATE, *of_spec):
                yield from check(new, old)
        yield from all_of(self.checks, new)

    def _spec_stays(self, new: Manifest, old: Manifest) -> Iterator[Problem]:
        changes = differences(value_at(new, "spec"), value_at(old, "spec"), self.shape.inside.get("spec"))
        if listed := ",".join(islice(changes, MOST_DIFFERENCES)):
            yield forbidden("spec", listed) if self.lists_differences else invalid_unshown("spec", FIELD_IS_IMMUTABLE)


def build_kind(
    resource: Resource,
    *lines: Line,
    lists_differences: bool = True,
    name_problem: Callable[[str], str | None] = dns_subdomain_problem,
) -> Kind:
    """The kind of a resource, which a table describes line by line."""
    types = {path: json_type for line in lines for path, json_type in line.types.items()}
    of_metadata = metadata.checks(name_problem, is_namespaced=resource.namespaced)
    checks = (*of_metadata, *(check for line in lines for check in line.checks))
    change_checks = tuple(check for line in lines for check in line.change_checks)
    return Kind(resource, shape(metadata.TYPES | types), checks, change_checks, lists_differences)


def _extension(plural: str, kind: str, *lines: Line, namespaced: bool = True) -> Kind:
    """A kind of Gardener's extension API: its specs have a type, which never changes."""
    of_type = _text("spec.type", is_immutable=True)
    return build_kind(extension_resource(plural, kind, namespaced=namespaced), of_type, *lines)


def _text(path: str, *, is_immutable: bool = False) -> Line:
    return field(path, TEXT, required, is_immutable=is_immutable)


REGION: Final = _text("spec.region", is_immutable=True)
SECRET: Final = _text("spec.secretRef.name")
_ETCD_AMOUNTS: Final = ("storageCapacity", "etcd.quota", "backup.deltaSnapshotMemoryLimit")
_ETCD_TIMES: Final = (
    *("etcd.etcdDefragTimeout", "etcd.heartbeatDuration"),
    *("backup.deltaSnapshotPeriod", "backup.garbageCollectionPeriod", "backup.etcdSnapshotTimeout"),
    *("backup.leaderElection.reelectionPeriod", "backup.leaderElection.etcdConnectionTimeout"),
)
_ETCD_RESOURCES: Final = ("spec.etcd.resources", "spec.backup.resources", "spec.backup.compactionResources")

_ETCD: Final = (
    Line({rules.PREFIX: TEXT}, (rules.prefix_names_etcd,), (rules.prefix_stays,)),
    Line({rules.PROVIDER: TEXT}, (rules.provider_is_supported,)),
    *(field(f"spec.{path}", QUANTITY) for path in _ETCD_AMOUNTS),
    *(field(f"spec.{path}", DURATION) for path in _ETCD_TIMES),
    *(field(f"{path}.{amounts}{{}}", QUANTITY) for path in _ETCD_RESOURCES for amounts in ("limits", "requests")),
)

_POOL: Final = (
    _text("machineType"),
    _text("machineImage.name"),
    _text("machineImage.version"),
    field("architecture", TEXT, one_of(("amd64", "arm64"), unless=(None,))),
    _text("name"),
    field("userData", BYTES, present),
    Line({"nodeTemplate.capacity{}": QUANTITY}, (rules.capacity,)),
    *(field(f"machineControllerManager.machine{what}Timeout", DURATION) for what in ("Drain", "Health", "Creation")),
)

_PURPOSE: Final = one_of(("provision", "reconcile"), unless=(None, ""))
_FILE: Final = ("path", "content.secretRef.name", "content.secretRef.dataKey", "content.inline.encoding")

KINDS: Final[Mapping[str, Kind]] = {
    kind.resource.kind: kind
    for kind in (
        _extension("backupbuckets", "BackupBucket", REGION, SECRET, namespaced=False),
        _extension(
            "backupentries", "BackupEntry", _text("spec.bucketName"), _text("spec.region"), SECRET, namespaced=False
        ),
        _extension(
            "bastions",
            "Bastion",
            field("spec.userData", BYTES, required, is_immutable=True),
            field("spec.ingress", LIST, required),
        ),
        _extension(
            "containerruntimes",
            "ContainerRuntime",
            _text("spec.binaryPath"),
            _text("spec.workerPool.name", is_immutable=True),
        ),
        _extension(
            "controlplanes",
            "ControlPlane",
            field("spec.purpose", TEXT, one_of(("normal", "exposure"), unless=(None,))),
            Line(change_checks=(immutable("spec.purpose", empty_is_absent=False),)),
            REGION,
            SECRET,
        ),
        _extension(
            "dnsrecords",
            "DNSRecord",
            SECRET,
            field("spec.region", TEXT, not_empty_if_present),
            field("spec.zone", TEXT, not_empty_if_present),
            Line({"spec.name": TEXT}, (rules.name_is_domain,), (immutable("spec.name"),)),
            field("spec.recordType", TEXT, one_of(("A", "AAAA", "CNAME", "TXT")), is_immutable=True),
            field("spec.values[]", TEXT, required),
            Line(checks=(rules.values_fit_record_type,)),
            field("spec.ttl", INTEGER, not_negative_if_present),
        ),
        build_kind(ETCDS, *_ETCD, lists_differences=False),
        _extension("extensions", "Extension"),
        _extension("infrastructures", "Infrastructure", REGION, SECRET),
        _extension(
            "networks",
            "Network",
            field("spec.ipFamilies[]", TEXT),
            field(rules.POD_CIDR, TEXT, is_immutable=True),
            field(rules.SERVICE_CIDR, TEXT, is_immutable=True),
            Line(checks=(rules.addressing,), change_checks=(immutable("spec.ipFamilies"),)),
        ),
        _extension(
            "operatingsystemconfigs",
            "OperatingSystemConfig",
            field("spec.purpose", TEXT, required, _PURPOSE, is_immutable=True),
            each("spec.units", _text("name"), each("dropIns", _text("name"), _text("content"))),
            Line({f"spec.files[].{path}": TEXT for path in (*_FILE, "content.inline.data")}, (rules.files,)),
        ),
        _extension("workers", "Worker", REGION, SECRET, each("spec.pools", *_POOL)),
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


def review(kind: str, request: AdmissionRequest) -> Decision:
    """Let only valid objects of a kind, one of KINDS, be stored; deletions and connections are allowed."""
    if request.operation == CONNECT:
        return Allowed()
    decoded = {CREATE: (request.object,), UPDATE: (request.object, request.old_object), DELETE: (request.old_object,)}
    manifests = decoded.get(request.operation)
    if manifests is None:
        return bad_request(f'unknown operation "{request.operation}"')
    rules = KINDS[kind]
    if denied := next(filter(None, (_undecodable(rules, manifest) for manifest in manifests)), None):
        return denied
    errors = () if request.operation == DELETE else tuple(islice(rules.errors(*manifests), MOST_ERRORS + 1))
    return invalid_object(rules.resource, key_of(request.object).name, errors) if errors else Allowed()


def _undecodable(rules: Kind, manifest: Any) -> Denied | None:
    if problem := type_problem(manifest, rules.resource):
        return bad_request(problem)
    misfits = rules.misfits(manifest)
    return bad_request(_listed(misfits)) if misfits else None


def invalid_object(resource: Resource, name: str, errors: Sequence[Problem]) -> Denied:
    """The denial of an object with errors, as a Status of the API server tells them."""
    causes = [{"reason": error.reason, "message": error.body, "field": error.path} for error in errors[:MOST_ERRORS]]
    return Denied(
        INVALID,
        f'{resource.kind}.{resource.group} "{name}" is invalid: {_listed(errors)}',
        "Invalid",
        {"group": resource.group, "kind": resource.kind, "name": name, "causes": causes},
    )


def _listed(errors: Sequence[Problem]) -> str:
    """The text of the first errors, and whether there are more."""
    return joined([*errors[:MOST_ERRORS], *(["and more"] if len(errors) > MOST_ERRORS else [])])


def webhooks() -> tuple[Webhook, ...]:
    """One webhook for each kind; they look nothing up."""
    return tuple(_webhook(kind.resource) for kind in KINDS.values())


def _webhook(resource: Resource) -> Webhook:
    return Webhook(NAME, path_of(resource), lambda request, _snapshot: review(resource.kind, request))


def path_of(resource: Resource) -> str:
    """Where the webhook for a resource is reached."""
    return f"/validate-{resource.group.replace('.', '-')}-{resource.version}-{resource.kind.lower()}"
