"""Objects out of what users name on the command line: files, folders, standard input.

Composes the steps: find and read texts, decode them, take objects out, place them in namespaces, look for repetitions.
Every problem of every step is reported, not the first one alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final, NamedTuple

from returns.result import Failure, Result, Success

from hedgerow.machinery.failures import Problem, wrong_type
from hedgerow.machinery.manifests import object_problems, type_problems
from hedgerow.machinery.objects import ObjectKey, key_of
from hedgerow_adapters.files.decoding import decoded
from hedgerow_adapters.files.scopes import DEFAULT_NAMESPACE, NAMESPACED_KINDS, group_of, in_its_namespace
from hedgerow_adapters.files.sources import LoadedObject, LoadProblem, Source, source_texts

_LIST: Final = "List"


class Part(NamedTuple):
    """An object of a document, or what stands in the place of one."""

    value: Any
    where: str
    """Its place in the lists that hold it, such as `items[3]`; empty for a document that is no list."""
    problems: tuple[Problem, ...]


def load_manifests(
    paths: Sequence[str],
    *,
    stdin: BinaryIO,
    namespaced_kinds: frozenset[str] = NAMESPACED_KINDS,
    namespace: str = DEFAULT_NAMESPACE,
    sent: bool = False,
) -> Result[tuple[LoadedObject, ...], tuple[LoadProblem, ...]]:
    """All objects that paths name, in their order, or everything that is wrong with them.

    Args:
        paths: files, folders (all `.yaml`, `.yml` and `.json` files in them and below), or `-` for standard input.
        stdin: standard input; read only where a path says so.
        namespaced_kinds: kinds that go to `namespace` where they name none, those outside Kubernetes' own groups as
            `Kind.group`.
        namespace: where objects go that name none.
        sent: the objects are as somebody sends them to an API server, and not as one holds them: their name may be
            left to the server, and an AdmissionReview has none.
    """
    problems: list[LoadProblem] = []
    found: list[LoadedObject] = []
    places: list[str] = []
    for source, part in _parts_in(paths, stdin, problems, sent=sent):
        manifest = in_its_namespace(part.value, namespaced_kinds, namespace)
        is_placed = bool(key_of(manifest).namespace) and not key_of(part.value).namespace
        found.append(LoadedObject(manifest, source, is_placed))
        places.append(part.where)
    problems += _repetitions(zip(found, places, strict=True))
    return Failure(tuple(problems)) if problems else Success(tuple(found))


def _parts_in(
    paths: Sequence[str], stdin: BinaryIO, problems: list[LoadProblem], *, sent: bool
) -> Iterator[tuple[Source, Part]]:
    """The objects with nothing wrong, in the order of the paths; what is wrong with the others joins the problems."""
    for text in source_texts(paths, stdin):
        if isinstance(text, LoadProblem):
            problems.append(text)
            continue
        for number, document in enumerate(decoded(text.text, text.path), start=1):
            source = Source(text.path, number)
            problems += (LoadProblem(source, problem) for problem in document.problems)
            for part in () if document.problems else parts_of(document.value, sent=sent):
                problems += (LoadProblem(source, f"{_prefix(part.where)}{problem}") for problem in part.problems)
                if not part.problems:
                    yield source, part


def parts_of(document: Any, where: str = "", *, sent: bool = False) -> Iterator[Part]:
    """All objects that a document holds, lists taken apart, each with what is wrong with it; none for an empty one."""
    kind = document.get("kind") if isinstance(document, dict) else None
    if not isinstance(kind, str) or not (kind == _LIST or (kind.endswith(_LIST) and "items" in document)):
        if document is not None or where:
            yield Part(document, where, object_problems(document, sent=sent))
        return
    items, problems = document.get("items"), [*type_problems(document)]
    if "items" not in document:
        problems.append(Problem("", "a List without items"))
    elif items is not None and not isinstance(items, list):
        problems.append(wrong_type("items", "a list", items))
    if problems:
        yield Part(document, where, tuple(problems))
    for position, item in enumerate(items if isinstance(items, list) else ()):
        place = f"{where}.items[{position}]".removeprefix(".")
        yield from parts_of(_typed_as_item(item, document), place, sent=sent)


def _typed_as_item(item: Any, parent: Mapping[str, Any]) -> Any:
    """An item with the type that a list such as a PodList implies for items that do not say theirs."""
    kind = parent["kind"].removesuffix(_LIST)
    if not isinstance(item, dict) or not kind:
        return item
    implied = {"apiVersion": parent.get("apiVersion"), "kind": kind}
    missing = {name: value for name, value in implied.items() if item.get(name) is None}
    return {**implied, **item, **missing}


def _repetitions(found: Iterable[tuple[LoadedObject, str]]) -> Iterator[LoadProblem]:
    """An object that stands in two places: which of them counts would depend on the order of the paths.

    Versions of a group serve the same objects.
    """
    first: dict[tuple[str, str, ObjectKey], str] = {}
    for loaded, where in found:
        kind, key = loaded.manifest["kind"], key_of(loaded.manifest)
        identity = (group_of(loaded.manifest), kind, key)
        if identity in first and key.name:
            yield LoadProblem(loaded.source, f"{_prefix(where)}{kind} {key} stands already in {first[identity]}")
        first.setdefault(identity, f"{loaded.source} {where}".rstrip())


def _prefix(where: str) -> str:
    return f"{where}: " if where else ""
