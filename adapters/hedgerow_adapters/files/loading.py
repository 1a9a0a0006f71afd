"""Objects out of what users name on the command line: files, folders, standard input.

Composes the steps: find and read texts, decode them, take objects out, place them in namespaces, look for repetitions.
Every problem of every step is reported, not the first one alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, NamedTuple

from returns.result import Failure, Result, Success

from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow_adapters.files.decoding import decoded
from hedgerow_adapters.files.manifests import parts_of
from hedgerow_adapters.files.scopes import (
    CLUSTER_SCOPED_KINDS,
    DEFAULT_NAMESPACE,
    NAMESPACED_KINDS,
    group_of,
    in_its_namespace,
)
from hedgerow_adapters.files.sources import LoadedObject, LoadProblem, Source, source_texts


class _Found(NamedTuple):
    """An object and where it stands."""

    manifest: Manifest
    source: Source
    where: str
    """Its place in the lists of its document, such as `items[3]`; empty where it is the document."""
    is_placed: bool = False
    """Whether the namespace that it is in is not its own word."""


class _Identity(NamedTuple):
    """What no two objects of a cluster share; versions of a group serve the same objects."""

    group: str
    kind: str
    key: ObjectKey


def load_manifests(
    paths: Sequence[str],
    *,
    stdin: BinaryIO,
    cluster_scoped_kinds: frozenset[str] = CLUSTER_SCOPED_KINDS,
    namespaced_kinds: frozenset[str] = NAMESPACED_KINDS,
    namespace: str = DEFAULT_NAMESPACE,
    sent: bool = False,
) -> Result[tuple[LoadedObject, ...], tuple[LoadProblem, ...]]:
    """All objects that paths name, in their order, or everything that is wrong with them.

    Args:
        paths: files, folders (all `.yaml`, `.yml` and `.json` files in them and below), or `-` for standard input.
        stdin: standard input; read only where a path says so.
        cluster_scoped_kinds: kinds that live in no namespace, those outside Kubernetes' own groups as `Kind.group`.
        namespaced_kinds: kinds that go to `namespace` where they name none, written likewise.
        namespace: where objects go that name none.
        sent: whether the objects are as somebody sends them to an API server, and not as one holds them: their name
            may be left to the server, and an AdmissionReview has none.
    """
    problems: list[LoadProblem] = []
    found: list[_Found] = []
    for read in _read(paths, stdin, sent=sent):
        if isinstance(read, LoadProblem):
            problems.append(read)
        else:
            manifest = in_its_namespace(
                read.manifest,
                cluster_scoped_kinds=cluster_scoped_kinds,
                namespaced_kinds=namespaced_kinds,
                namespace=namespace,
            )
            is_placed = bool(key_of(manifest).namespace) and not key_of(read.manifest).namespace
            found.append(read._replace(manifest=manifest, is_placed=is_placed))
    problems += _repetitions(found)
    if problems:
        return Failure(tuple(problems))
    return Success(tuple(LoadedObject(each.manifest, each.source, each.is_placed) for each in found))


def _read(paths: Sequence[str], stdin: BinaryIO, *, sent: bool) -> Iterator[_Found | LoadProblem]:
    """All objects and all problems, in the order of the paths."""
    for text in source_texts(paths, stdin):
        if isinstance(text, LoadProblem):
            yield text
            continue
        for number, document in enumerate(decoded(text.text, text.path), start=1):
            source = Source(text.path, number)
            if document.problems:
                yield from (LoadProblem(source, problem) for problem in document.problems)
                continue
            for part in parts_of(document.value, sent=sent):
                yield from (LoadProblem(source, f"{_prefix(part.where)}{problem}") for problem in part.problems)
                if not part.problems:
                    yield _Found(part.value, source, part.where)


def _repetitions(found: Iterable[_Found]) -> Iterator[LoadProblem]:
    """An object that stands in two places: which of them counts would depend on the order of the paths."""
    first: dict[_Identity, _Found] = {}
    for each in found:
        identity = _Identity(group_of(each.manifest), each.manifest["kind"], key_of(each.manifest))
        earlier = first.setdefault(identity, each)
        if earlier is not each and identity.key.name:
            place = f"{earlier.source} {earlier.where}".rstrip()
            what = f"{identity.kind} {identity.key} stands already in {place}"
            yield LoadProblem(each.source, f"{_prefix(each.where)}{what}")


def _prefix(where: str) -> str:
    return f"{where}: " if where else ""
