"""Where the offline commands take their objects from: files, or a live cluster that is only read."""

import asyncio
import contextlib
import io
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from returns.result import Failure

from hedgerow.machinery.controller import Controller
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow_adapters.files import LoadedObject, Source, implied_namespaces, load_manifests
from hedgerow_adapters.files.loaded import printable
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.memory.kinds.namespaces import ALWAYS_THERE
from hedgerow_adapters.protocol.transport import Transport
from hedgerow_adapters.simulation import seeded_cluster
from hedgerow_entrypoints.errors import CommandError, note

MOST_NAMES: Final = 5


@dataclass(frozen=True, slots=True)
class ClusterFromFiles:
    """An in-memory cluster, and where its objects stand."""

    cluster: InMemoryCluster
    sources: Mapping[tuple[str, ObjectKey], Source]
    """The documents of the objects, by kind and key."""

    def located(self, failure: DomainFailure) -> str:
        """A failure as one sentence that opens with the document of its object, where a file holds it."""
        source = self.sources.get((failure.resource.kind, failure.key))
        return f"{source}: {failure}" if source else str(failure)


def cluster_from_files(paths: Sequence[str], controllers: Sequence[Controller[Any]]) -> ClusterFromFiles:
    """An in-memory cluster with the objects in files that the controllers read.

    A Namespace that objects live in but that stands in no file exists as well: without it they could not.

    Raises:
        CommandError: something in the files is wrong; all of it is listed.
    """
    result = load_manifests(paths, stdin=standard_input())
    if isinstance(result, Failure):
        raise CommandError.of(result.failure())
    resources = {
        (watch.resource.api_version, watch.resource.kind): watch.resource
        for controller in controllers
        for watch in controller.watches
    }
    read = [each for each in result.unwrap() if (each.manifest["apiVersion"], each.manifest["kind"]) in resources]
    assumed = [each for each in assumed_namespaces(read) if key_of(each.manifest).name not in ALWAYS_THERE]
    cluster, problems = seeded_cluster([*assumed, *read], resources)
    if problems:
        raise CommandError.of(problems)
    return ClusterFromFiles(cluster, {(each.manifest["kind"], key_of(each.manifest)): each.source for each in read})


def assumed_namespaces(objects: Sequence[LoadedObject]) -> list[LoadedObject]:
    """The Namespaces that have to exist for objects to live in; each stands where the first of those objects does.

    Those that not every cluster has are told of.
    """
    sources = {key_of(each.manifest).namespace: each.source for each in reversed(objects)}
    assumed = {key_of(each).name: each for each in implied_namespaces([each.manifest for each in objects])}
    names = [printable(name) for name in assumed if name not in ALWAYS_THERE]
    if names:
        note(f"note: assuming that these namespaces exist, without further labels: {_abridged(names)}")
    return [LoadedObject(namespace, sources[name]) for name, namespace in assumed.items()]


def standard_input() -> BinaryIO:
    """Standard input, also where the process was started without one."""
    if sys.stdin is not None:
        return sys.stdin.buffer
    missing = io.BytesIO()
    missing.close()
    return missing


def _abridged(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_NAMES])
    return f"{shown} and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else shown


def world_from_cluster(
    kubeconfig: str | None, context: str | None, controllers: Sequence[Controller[Any]], namespaces: Sequence[str] = ()
) -> Mapping[Resource, Sequence[Manifest]]:
    """The objects in a live cluster that the controllers read.

    Args:
        kubeconfig: the file; none: the one that kubectl would take.
        context: its context; none: the current one.
        controllers: who reads.
        namespaces: what is read; none: all.

    Raises:
        CommandError: the cluster cannot be reached or does not show them.
    """
    return asyncio.run(_live_world(kubeconfig, context, controllers, namespaces))


def _default_kubeconfig() -> str:
    named = os.environ.get("KUBECONFIG")
    if named and os.pathsep in named:
        raise CommandError("KUBECONFIG names several files, which are not merged here: give one by --kubeconfig")
    return named or os.path.expanduser("~/.kube/config")  # noqa: PTH111 -- Path.home() fails for a user without a home


async def _live_world(
    kubeconfig: str | None, context: str | None, controllers: Sequence[Controller[Any]], namespaces: Sequence[str]
) -> Mapping[Resource, Sequence[Manifest]]:
    from hedgerow_adapters.kubernetes.listing import ListingError, world_of  # noqa: PLC0415 -- slow, as below

    async with connected(kubeconfig, context) as transport:
        try:
            return await world_of(transport, controllers, namespaces)
        except ListingError as error:
            raise CommandError(str(error)) from error


@contextlib.asynccontextmanager
async def connected(kubeconfig: str | None, context: str | None) -> AsyncIterator[Transport]:
    """The way to a live cluster.

    Args:
        kubeconfig: the file; none: the one that kubectl would take.
        context: its context; none: the current one.

    Raises:
        CommandError: the kubeconfig is of no use.
    """
    # The HTTP client is slow to import, and most worlds come from files.
    from hedgerow_adapters.kubernetes.credentials import load_connection  # noqa: PLC0415
    from hedgerow_adapters.kubernetes.http_transport import HttpTransport  # noqa: PLC0415

    connection = await load_connection(kubeconfig or _default_kubeconfig(), context=context or "")
    if isinstance(connection, Failure):
        raise CommandError(str(connection.failure()))
    async with HttpTransport(connection.unwrap()) as transport:
        yield transport
