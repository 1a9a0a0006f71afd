"""What is to be reviewed: objects in files as the requests that an API server would ask about, and recorded ones.

An object stands for the operation that the user names; an AdmissionReview says itself what it asks. As far as webhooks
read it, an object is completed as an API server does it: for webhooks that may change it, with defaults; for those that
only deny, also with what the server alone decides, such as a name, and what an update does not change.

Source: Kubernetes API conventions, "Metadata"; Kubernetes API, SecretSpec, DeploymentSpec, StatefulSetSpec and
HorizontalPodAutoscalerSpec.
"""

import itertools
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from returns.result import Failure

from hedgerow.admission.request import CONNECT, CREATE, DELETE, UPDATE, AdmissionRequest, creation, deletion, update
from hedgerow.admission.review import KIND, VERSIONS, parse_review
from hedgerow.api import kubernetes
from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.machinery.failures import json_type
from hedgerow.machinery.manifests import an_object, object_problems
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of
from hedgerow_adapters.files.scopes import DEFAULT_NAMESPACE, NAMESPACED_KINDS, group_of
from hedgerow_adapters.files.sources import LoadedObject, LoadProblem, Source, printable
from hedgerow_entrypoints.cli.worlds import assumed_namespaces, objects_in_files
from hedgerow_entrypoints.components import component, known
from hedgerow_entrypoints.errors import CommandError, note

REVIEWED: Final = tuple(resource for name in known() for resource in component(name).reviews().resources)
"""What webhooks are registered for, beside AdmissionReviews of anything."""
_RESOURCES: Final[Mapping[tuple[str, str], Resource]] = {(each.api_version, each.kind): each for each in REVIEWED}
_OPERATIONS: Final = (CREATE, UPDATE, DELETE, CONNECT)
_NAMESPACED: Final = NAMESPACED_KINDS | {
    each.kind if each.group.endswith(".k8s.io") else f"{each.kind}.{each.group}"
    for each in REVIEWED
    if each.namespaced and each.kind not in NAMESPACED_KINDS
}

_ONE_BY_DEFAULT: Final = {
    kubernetes.DEPLOYMENTS.kind: "replicas",
    kubernetes.STATEFUL_SETS.kind: "replicas",
    kubernetes.HORIZONTAL_POD_AUTOSCALERS.kind: "minReplicas",
}
_IDENTITY: Final = ("uid", "resourceVersion")
"""Clients may leave it out, but what they say counts."""
_DECIDED_BY_SERVER: Final = ("creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds")
"""Whatever clients say."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A request, and where it, or its object, is written down."""

    request: AdmissionRequest
    source: Source
    filled_in: str = ""
    """The field of its object that says 1 although nobody wrote it; empty: none."""

    @property
    def name(self) -> str:
        """The object as users write it, printable; a star stands for what no one knows yet, or for all there are."""
        return printable(str(ObjectKey(self.request.namespace, shown_name(self.request))))

    def __str__(self) -> str:
        return f"{printable(self.request.kind.kind)} {self.name}"


def shown_name(request: AdmissionRequest) -> str:
    """The name of a request's object; as much of it as is known, and a star."""
    if request.name:
        return request.name
    metadata = request.object.get("metadata") if isinstance(request.object, dict) else None
    beginning = metadata.get("generateName") if isinstance(metadata, dict) else None
    return f"{beginning or ''}*"


def sent_objects(paths: Sequence[str], namespace: str = DEFAULT_NAMESPACE) -> Sequence[LoadedObject]:
    """The objects in files as users send them to an API server; those that name no namespace go to the given one."""
    return objects_in_files(paths, namespaced_kinds=_NAMESPACED, namespace=namespace, sent=True)


def is_review(manifest: Manifest) -> bool:
    """True if a document asks about a request, and is no object of its own."""
    return manifest["kind"] == KIND and group_of(manifest) == VERSIONS[0].rpartition("/")[0]


def candidates(objects: Iterable[LoadedObject], operation: str | None, old: Sequence[LoadedObject]) -> list[Candidate]:
    """The requests that objects and AdmissionReviews stand for; one with an `old` version is updated by default."""
    before = {_identity(each.manifest): each for each in old}
    found: list[Candidate] = []
    problems: list[LoadProblem] = []
    for each in objects:
        if not is_review(each.manifest):
            found += _requested(each, operation, before.pop(_identity(each.manifest), None))
        elif isinstance(parsed := parse_review(each.manifest), Failure):
            problems.append(LoadProblem(each.source, f"AdmissionReview: {parsed.failure().message}"))
        else:
            request = parsed.unwrap().request
            problems += [LoadProblem(each.source, f"AdmissionReview: {what}") for what in _impossible(request)]
            before.pop((request.kind.group, request.kind.kind, request.key), None)
            found.append(Candidate(request, each.source))
    if problems:
        raise CommandError.of(problems)
    for unmatched in before.values():
        name = printable(f"{unmatched.manifest['kind']} {key_of(unmatched.manifest)}")
        note(f"warning: {unmatched.source}: {name}: no object to review is a newer version of it")
    return found


def _impossible(request: AdmissionRequest) -> Iterator[str]:
    """Why no API server can have sent a request (AdmissionRequest of admission.k8s.io/v1), each with its field."""
    for field, parts in (("request.kind", request.kind._asdict()), ("request.resource", request.resource._asdict())):
        if not any(parts.values()):
            yield f"{field}: is missing"
        else:
            # Only the group may be empty, which is the core's then.
            yield from (f"{field}.{name}: is missing" for name, text in parts.items() if name != "group" and not text)
    if not request.operation:
        yield "request.operation: is missing"
    elif request.operation not in _OPERATIONS:
        yield f"request.operation: must be {', '.join(_OPERATIONS[:-1])} or {_OPERATIONS[-1]}"
    # Old API servers show nothing of what is deleted.
    for field, value, needed, allowed in (
        ("request.object", request.object, {CREATE, UPDATE}, {CREATE, UPDATE}),
        ("request.oldObject", request.old_object, {UPDATE}, {UPDATE, DELETE}),
    ):
        if value is None and request.operation in needed:
            yield f"{field}: is missing"
        elif value is not None and request.operation in allowed and not isinstance(value, dict):
            yield f"{field}: expected an object, got {json_type(value)}"


def _requested(each: LoadedObject, operation: str | None, old: LoadedObject | None) -> Iterator[Candidate]:
    resource = _RESOURCES.get((each.manifest["apiVersion"], each.manifest["kind"]))
    if resource is None:
        return
    manifest = as_defaulted(each.manifest)
    if operation == DELETE:
        request = deletion(resource, manifest)
    elif operation == UPDATE or old is not None:
        request = update(resource, manifest, manifest if old is None else as_defaulted(old.manifest))
    else:
        request = creation(resource, manifest)
    yield Candidate(request, each.source, "" if operation == DELETE else filled_in(each.manifest))


def _identity(manifest: Manifest) -> tuple[str, str, ObjectKey]:
    """What an object and its older version share; versions of a group serve the same objects."""
    return group_of(manifest), manifest["kind"], key_of(manifest)


def deleted_members(candidates: Iterable[Candidate]) -> list[LoadedObject]:
    """The objects that deletions of collections show: an API server asks once for each, and names none."""
    requests = [(each.request, each.source) for each in candidates if each.request.operation == DELETE]
    shown = [(_typed(request), at) for request, at in requests if not request.name and request.old_object is not None]
    if problems := [
        LoadProblem(at, f"AdmissionReview: request.oldObject: {problem}")
        for member, at in shown
        for problem in object_problems(member)
    ]:
        raise CommandError.of(problems)
    return [LoadedObject(member, at) for member, at in shown]


def _typed(request: AdmissionRequest) -> Any:
    """The deleted object with the type and the namespace that the request states."""
    value = request.old_object
    if not isinstance(value, dict):
        return value
    typed = {**value, "apiVersion": request.kind.api_version, "kind": request.kind.kind}
    metadata = value.get("metadata")
    return {**typed, "metadata": {**metadata, "namespace": request.namespace}} if isinstance(metadata, dict) else typed


def given_namespace(path: str | None) -> Sequence[LoadedObject]:
    """The one Namespace in a file; none without a file."""
    if path is None:
        return ()
    found = sent_objects([path])
    others = itertools.filterfalse(_is_namespace, found)
    problems = [LoadProblem(each.source, f"must be a Namespace, is {an_object(each.manifest)}") for each in others]
    if not problems and len(found) != 1:
        what = f"must hold one Namespace, holds {len(found)}; several may stand among the files (-f)"
        problems = [LoadProblem(Source(path), what)]
    if problems:
        raise CommandError.of(problems)
    return found


def warn_of_unused(namespaces: Iterable[LoadedObject], inhabited: Iterable[str]) -> None:
    """Say that a Namespace was given to no purpose, which is most likely misspelt somewhere."""
    for each in namespaces:
        name = key_of(each.manifest).name
        if name not in inhabited:
            note(f"warning: {each.source}: Namespace {printable(name)}: no object to review is in it")


def missing_namespaces(held: Iterable[LoadedObject], requests: Iterable[Candidate]) -> list[LoadedObject]:
    """The Namespaces that stand in no file but must exist; a note names them."""
    residents = [LoadedObject({"metadata": {"namespace": each.request.namespace}}, each.source) for each in requests]
    return assumed_namespaces([*filter(_is_namespace, held), *residents])


def _is_namespace(each: LoadedObject) -> bool:
    return Kind.of(each.manifest) == NAMESPACES.object_kind


def as_defaulted(manifest: Manifest) -> Manifest:
    """The object as it was read: with one replica where none are given, and the plain values of a Secret encoded."""
    if manifest["kind"] == kubernetes.SECRETS.kind:
        return _encoded(manifest)
    field = filled_in(manifest)
    return {**manifest, "spec": {**manifest["spec"], field: 1}} if field else manifest


def filled_in(manifest: Manifest) -> str:
    """The field of the spec that a server sets to 1, as the object leaves it out; empty: none."""
    field, spec = _ONE_BY_DEFAULT.get(manifest["kind"], ""), manifest.get("spec")
    return field if field and isinstance(spec, Mapping) and spec.get(field) is None else ""


def without_default(manifest: Manifest, field: str) -> Manifest:
    """The object as it was written, as long as the field holds what was filled in."""
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping) or spec.get(field) != 1:
        return manifest
    return {**manifest, "spec": {name: value for name, value in spec.items() if name != field}}


def _encoded(secret: Manifest) -> Manifest:
    """The Secret with its plain values among the others, before which they count; no server reads any but texts."""
    plain, data = secret.get("stringData"), secret.get("data") or {}
    if not isinstance(plain, Mapping) or not isinstance(data, Mapping):
        return secret
    if not all(value is None or isinstance(value, str) for value in plain.values()):
        return secret
    encoded = {name: b64encode((value or "").encode(errors="replace")).decode() for name, value in plain.items()}
    rest = {name: value for name, value in secret.items() if name != "stringData"}
    return {**rest, "data": {**data, **encoded}} if encoded else rest


def as_to_be_stored(request: AdmissionRequest) -> AdmissionRequest:
    """The request once no one changes its object any more; of what is no readable object, as it is."""
    if request.subresource:
        return request
    new, old = _metadata(request.object), _metadata(request.old_object)
    if request.operation == UPDATE and new and old:
        # Perhaps only one of the two objects has been stored by a server, or none, which has a version then.
        decided = {**_stated(new, _DECIDED_BY_SERVER), **_stated(old, _DECIDED_BY_SERVER)}
        of_new, of_old = _stated(new, _IDENTITY), _stated(old, _IDENTITY)
        return replace(
            request,
            object=_with_metadata(request.object, {"resourceVersion": "1", **of_old, **of_new, **decided}),
            old_object=_with_metadata(request.old_object, {**of_new, **of_old, **decided}),
        )
    prefix = new.get("generateName")
    if request.operation != CREATE or new.get("name") or not prefix or not isinstance(prefix, str):
        return request
    name = f"{prefix[:58]}xxxxx"  # a server adds five random characters; here they are always the same
    return replace(request, name=name, object=_with_metadata(request.object, {"name": name}))


def _metadata(value: Any) -> Mapping[str, Any]:
    metadata = value.get("metadata") if isinstance(value, Mapping) else None
    return metadata if isinstance(metadata, Mapping) else {}


def _stated(metadata: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: metadata[name] for name in names if metadata.get(name) not in (None, "")}


def _with_metadata(manifest: Manifest, fields: Mapping[str, Any]) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], **fields}}
