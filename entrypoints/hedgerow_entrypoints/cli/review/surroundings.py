"""The Namespaces that reviewed objects live in, as far as files tell."""

from collections.abc import Iterable, Sequence

from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.machinery.manifests import an_object
from hedgerow.machinery.objects import key_of
from hedgerow_adapters.files import LoadedObject, LoadProblem, Source
from hedgerow_adapters.files.sources import printable
from hedgerow_entrypoints.cli.review.requests import Candidate, sent_objects
from hedgerow_entrypoints.cli.worlds import assumed_namespaces
from hedgerow_entrypoints.errors import CommandError, note


def given_namespace(path: str | None) -> Sequence[LoadedObject]:
    """The one Namespace in a file; none without a file.

    Raises:
        CommandError: there is none in it, or something else.
    """
    if path is None:
        return ()
    found = sent_objects([path])
    problems = [
        LoadProblem(each.source, f"must be a Namespace, is {an_object(each.manifest)}")
        for each in found
        if not _is_namespace(each)
    ]
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


def with_assumed_namespaces(held: Sequence[LoadedObject], requests: Iterable[Candidate]) -> list[LoadedObject]:
    """The objects, and those Namespaces that stand in no file but exist as well: without them nothing could be there.

    Each that not every cluster has is told of.
    """
    residents = [LoadedObject({"metadata": {"namespace": each.request.namespace}}, each.source) for each in requests]
    return [*held, *assumed_namespaces([*filter(_is_namespace, held), *residents])]


def _is_namespace(each: LoadedObject) -> bool:
    return (each.manifest["apiVersion"], each.manifest["kind"]) == (NAMESPACES.api_version, NAMESPACES.kind)
