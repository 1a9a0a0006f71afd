"""What is to be reviewed: objects in files as the requests that an API server would ask about, and recorded ones.

An object stands for the operation that the user names; an AdmissionReview says itself what it asks.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from returns.result import Failure

from hedgerow.admission.deletion_protection import CUSTOM_RESOURCES, DEFINITIONS
from hedgerow.admission.request import DELETE, UPDATE, AdmissionRequest, creation, deletion, update
from hedgerow.admission.review import KIND, VERSIONS, parse_review
from hedgerow.api import gardener, kubernetes
from hedgerow.machinery.manifests import object_problems
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow_adapters.files import (
    CLUSTER_SCOPED_KINDS,
    NAMESPACED_KINDS,
    LoadedObject,
    LoadProblem,
    Source,
    load_manifests,
)
from hedgerow_adapters.files.sources import printable
from hedgerow_entrypoints.cli.options import standard_input
from hedgerow_entrypoints.cli.review import recorded
from hedgerow_entrypoints.cli.review.completion import Default, as_defaulted, default_of
from hedgerow_entrypoints.errors import CommandError, note

AUTOSCALERS: Final = tuple(
    kubernetes.HORIZONTAL_POD_AUTOSCALERS._replace(version=version) for version in ("v2", "v1", "v2beta2", "v2beta1")
)
"""One and the same objects, in the versions in which API servers have served them, the preferred one first."""
_BASTIONS: Final = gardener.extension_resource("bastions", "Bastion")
REVIEWED: Final = (
    kubernetes.PODS,
    kubernetes.SECRETS,
    kubernetes.DEPLOYMENTS,
    kubernetes.STATEFUL_SETS,
    gardener.HVPAS,
    kubernetes.ENDPOINT_SLICES,
    *AUTOSCALERS,
    *DEFINITIONS,
    *CUSTOM_RESOURCES,
    _BASTIONS,
)
"""What webhooks are registered for, beside AdmissionReviews of anything."""
_RESOURCES: Final[Mapping[tuple[str, str], Resource]] = {(each.api_version, each.kind): each for each in REVIEWED}
_NAMESPACED: Final = NAMESPACED_KINDS | {
    each.kind if each.group.endswith(".k8s.io") else f"{each.kind}.{each.group}"
    for each in REVIEWED
    if each.namespaced and each.kind not in NAMESPACED_KINDS
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A request, and where it, or its object, is written down."""

    request: AdmissionRequest
    source: Source
    filled_in: Default | None = None
    """What its object says although nobody wrote it."""

    @property
    def name(self) -> str:
        """The object as users write it, printable; a star stands for what no one knows yet, or for all there are."""
        return printable(str(ObjectKey(self.request.namespace, shown_name(self.request))))

    def __str__(self) -> str:
        """Document, kind and object."""
        return f"{self.source}: {printable(self.request.kind.kind)} {self.name}"


def shown_name(request: AdmissionRequest) -> str:
    """The name of a request's object; as much of it as is known, and a star."""
    if request.name:
        return request.name
    metadata = request.object.get("metadata") if isinstance(request.object, dict) else None
    beginning = metadata.get("generateName") if isinstance(metadata, dict) else None
    return f"{beginning or ''}*"


def sent_objects(paths: Sequence[str], namespace: str = "default") -> tuple[LoadedObject, ...]:
    """The objects in files as somebody sends them to an API server.

    Args:
        paths: files, folders, or `-` for standard input.
        namespace: where objects go that name none.

    Raises:
        CommandError: something in the files is wrong; all of it is listed.
    """
    loaded = load_manifests(
        paths,
        stdin=standard_input(),
        cluster_scoped_kinds=CLUSTER_SCOPED_KINDS,
        namespaced_kinds=_NAMESPACED,
        namespace=namespace,
        sent=True,
    )
    if isinstance(loaded, Failure):
        raise CommandError.of(loaded.failure())
    return loaded.unwrap()


def is_review(manifest: Manifest) -> bool:
    """Whether a document asks about a request, and is no object of its own."""
    return manifest["kind"] == KIND and str(manifest["apiVersion"]).rpartition("/")[0] == VERSIONS[0].rpartition("/")[0]


def candidates(objects: Iterable[LoadedObject], operation: str | None, old: Sequence[LoadedObject]) -> list[Candidate]:
    """The requests that objects and AdmissionReviews stand for, in their order; objects of no concern are left out.

    Args:
        objects: what the files hold.
        operation: what happens to each object; none: its creation, or the update of one with an old version.
        old: the objects as they were.

    Raises:
        CommandError: an AdmissionReview cannot be read.
    """
    before = {_identity(each.manifest): each for each in old}
    found: list[Candidate] = []
    problems: list[LoadProblem] = []
    for each in objects:
        if not is_review(each.manifest):
            earlier = before.pop(_identity(each.manifest), None)
            found += _requested(each, operation, earlier.manifest if earlier else None)
        elif isinstance(parsed := parse_review(each.manifest), Failure):
            problems.append(LoadProblem(each.source, f"AdmissionReview: {parsed.failure().message}"))
        else:
            request = parsed.unwrap().request
            problems += [LoadProblem(each.source, f"AdmissionReview: {what}") for what in recorded.problems(request)]
            before.pop((request.kind.group, request.kind.kind, request.key), None)
            found.append(Candidate(request, each.source))
    if problems:
        raise CommandError.of(problems)
    for unmatched in before.values():
        note(f"warning: {unmatched.source}: {_named(unmatched)}: no object to review is a newer version of it")
    return found


def _requested(each: LoadedObject, operation: str | None, old: Manifest | None) -> Iterator[Candidate]:
    resource = _RESOURCES.get((each.manifest["apiVersion"], each.manifest["kind"]))
    if resource is None:
        return
    manifest = as_defaulted(each.manifest)
    if operation == DELETE:
        request = deletion(resource, manifest)
    elif operation == UPDATE or old is not None:
        request = update(resource, manifest, manifest if old is None else as_defaulted(old))
    else:
        request = creation(resource, manifest)
    yield Candidate(request, each.source, None if operation == DELETE else default_of(each.manifest))


def _identity(manifest: Manifest) -> tuple[str, str, ObjectKey]:
    """What an object and its older version share; versions of a group serve the same objects."""
    return str(manifest["apiVersion"]).rpartition("/")[0], manifest["kind"], key_of(manifest)


def _named(each: LoadedObject) -> str:
    return printable(f"{each.manifest['kind']} {key_of(each.manifest)}")


def deleted_members(candidates: Iterable[Candidate]) -> list[LoadedObject]:
    """The objects that deletions of collections show: an API server asks once for each, and names none.

    Raises:
        CommandError: one of them is not what an API server would hold.
    """
    found: list[LoadedObject] = []
    problems: list[LoadProblem] = []
    for each in candidates:
        request = each.request
        if request.operation != DELETE or request.name or request.old_object is None:
            continue
        member = _typed(request)
        wrong = object_problems(member)
        problems += [LoadProblem(each.source, f"AdmissionReview: request.oldObject: {problem}") for problem in wrong]
        if not wrong:
            found.append(LoadedObject(member, each.source))
    if problems:
        raise CommandError.of(problems)
    return found


def _typed(request: AdmissionRequest) -> Any:
    """The deleted object with the type and the namespace that the request states."""
    value = request.old_object
    if not isinstance(value, dict):
        return value
    typed = {**value, "apiVersion": request.kind.api_version, "kind": request.kind.kind}
    metadata = value.get("metadata")
    return {**typed, "metadata": {**metadata, "namespace": request.namespace}} if isinstance(metadata, dict) else typed
