"""Where the offline commands take their objects from: files, or live clusters that are only read."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from returns import result

from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.registrations import CONTROLLER_REGISTRATIONS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import Kind, key_of
from hedgerow.machinery.questions import Answer, Question
from hedgerow_adapters.files.loading import load_manifests
from hedgerow_adapters.files.scopes import DEFAULT_NAMESPACE, NAMESPACED_KINDS, group_of
from hedgerow_adapters.files.sources import LoadedObject, printable
from hedgerow_adapters.files.writing import implied_namespaces
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.memory.kinds.namespaces import ALWAYS_THERE
from hedgerow_adapters.protocol.transport import Transport
from hedgerow_adapters.simulation.clusters import ReadingError, Worlds
from hedgerow_adapters.simulation.overlay import imagined
from hedgerow_adapters.simulation.seeding import seeded_cluster
from hedgerow_adapters.simulation.virtual_time import RealTime, VirtualClockLoop
from hedgerow_entrypoints.cli.options import standard_input
from hedgerow_entrypoints.components.registry import NO_REMARKS, Remarks
from hedgerow_entrypoints.errors import CommandError, abridged, note
from hedgerow_entrypoints.process.settings import ProcessSettings

NAMESPACED: Final = NAMESPACED_KINDS | {f"{MANAGED_RESOURCES.kind}.{MANAGED_RESOURCES.group}"}
"""The kinds that are known to live in namespaces: Kubernetes' own, and what the project defines."""


def objects_in_files(
    paths: Sequence[str],
    *,
    namespaced_kinds: frozenset[str] = NAMESPACED,
    namespace: str = DEFAULT_NAMESPACE,
    sent: bool = False,
) -> Sequence[LoadedObject]:
    """All objects in files, as `load_manifests` reads them."""
    stdin = standard_input()
    loaded = load_manifests(paths, stdin=stdin, namespaced_kinds=namespaced_kinds, namespace=namespace, sent=sent)
    if isinstance(loaded, result.Failure):
        raise CommandError.of(loaded.failure())
    _tell_unknown_fields(loaded.unwrap())
    return loaded.unwrap()


def _tell_unknown_fields(objects: Iterable[LoadedObject]) -> None:
    """Say what the author of a registration may have mistyped: an API server would drop it without a word."""
    registrations = [each for each in objects if Kind.of(each.manifest).group == CONTROLLER_REGISTRATIONS.group]
    if not registrations:
        return
    # Types are slow to make.
    from hedgerow.api.core_v1beta1 import CUSTOM_RESOURCES  # noqa: PLC0415
    from hedgerow.api.shape import read, undeclared  # noqa: PLC0415

    types = {each.resource.object_kind: each for each in CUSTOM_RESOURCES}
    for loaded in registrations:
        if (declared := types.get(Kind.of(loaded.manifest))) is None:
            continue
        for problem in undeclared(read(declared.type, loaded.manifest).value_or(None)):
            failure = Failure(declared.resource, key_of(loaded.manifest), problem)
            note(f"note: {loaded.source}: {printable(str(failure))}")


def located_in(objects: Iterable[LoadedObject]) -> Callable[[Failure], str]:
    """Makes a sentence of a failure, which opens with the document of its object, where a file holds it."""
    sources = {(group_of(each.manifest), each.manifest["kind"], key_of(each.manifest)): each.source for each in objects}

    def located(failure: Failure) -> str:
        source = sources.get((failure.resource.group, failure.resource.kind, failure.key))
        return f"{source}: {failure}" if source else str(failure)

    return located


def tell_placed(objects: Iterable[LoadedObject]) -> None:
    """Say of which objects it is not their own word where they are: the user may have meant another namespace."""
    if placed := [f"{each.manifest['kind']} {key_of(each.manifest).name}" for each in objects if each.is_placed]:
        note(f"note: taken to be in namespace {DEFAULT_NAMESPACE}: {abridged([*map(printable, placed)])}")


def clusters_of(
    objects: Sequence[LoadedObject],
    groups: Sequence[Sequence[Controller[Any]]],
    now: Callable[[], datetime] | None = None,
    later: Sequence[LoadedObject] = (),
    kube_version: str | None = None,
) -> list[InMemoryCluster]:
    """In-memory clusters with the objects that controllers read, one for each of some groups of controllers.

    A Namespace that objects live in but that stands in no file exists as well: without it they could not. Unless `now`
    is their clock, their time stands still. They serve what will be applied to them later. Without a `kube_version`
    theirs is the default one.
    """
    read_by = [_read_by(group, objects) for group in groups]
    read = [*{id(each): each for group in read_by for each in group}.values()]
    assumed = [each for each in assumed_namespaces(read) if key_of(each.manifest).name not in ALWAYS_THERE]
    seeded = [
        seeded_cluster([*assumed, *read_by_group], group, now=now, later=later)
        for read_by_group, group in zip(read_by, groups, strict=True)
    ]
    if problems := dict.fromkeys(problem for _, found in seeded for problem in found):
        in_order = sorted(problems, key=lambda problem: (problem.source.path, problem.source.document))
        raise CommandError.of(in_order)
    for cluster, _ in seeded:
        cluster.version = kube_version or cluster.version
    tell_placed(read)
    return [cluster for cluster, _ in seeded]


def _read_by(controllers: Sequence[Controller[Any]], objects: Sequence[LoadedObject]) -> list[LoadedObject]:
    """The objects that controllers may read, and then the Namespaces that these live in, as far as files hold them."""
    everything = any(map(reads_more_than_it_watches, controllers))
    kinds = {watch.resource.object_kind for controller in controllers for watch in controller.watches}
    read = [each for each in objects if everything or Kind.of(each.manifest) in kinds]
    if everything or NAMESPACES.object_kind in kinds:
        return read
    names = {key_of(each.manifest).namespace for each in read}
    namespaces = (each for each in objects if Kind.of(each.manifest) == NAMESPACES.object_kind)
    return [*read, *(each for each in namespaces if key_of(each.manifest).name in names)]


def reads_more_than_it_watches(controller: Controller[Any]) -> bool:
    """True if a controller may read objects of other kinds than it watches: whatever is named, or asked for live."""
    asks = any(not {"get", "list"}.isdisjoint(permission.verbs) for permission in controller.permissions)
    return asks or bool(controller.dynamic_watches) or controller.periodic


def assumed_namespaces(objects: Sequence[LoadedObject]) -> list[LoadedObject]:
    """The Namespaces that objects need, each at the source of the first; a note names those not in every cluster."""
    sources = {key_of(each.manifest).namespace: each.source for each in reversed(objects)}
    assumed = {key_of(each).name: each for each in implied_namespaces([each.manifest for each in objects])}
    if names := [printable(name) for name in assumed if name not in ALWAYS_THERE]:
        note(f"note: assuming that these namespaces exist, without further labels: {abridged(names)}")
    return [LoadedObject(namespace, sources[name]) for name, namespace in assumed.items()]


@contextlib.asynccontextmanager
async def connected(kubeconfig: str | None, context: str | None) -> AsyncIterator[Transport]:
    """The way to a live cluster: of a kubeconfig, or else of the one that kubectl would take."""
    # The HTTP client is slow to import, and most worlds come from files.
    from hedgerow_adapters.kubernetes.connection_files import load_connection  # noqa: PLC0415
    from hedgerow_adapters.kubernetes.http_transport import HttpTransport  # noqa: PLC0415

    connection = await load_connection(kubeconfig or _default_kubeconfig(), context=context or "")
    if isinstance(connection, result.Failure):
        raise CommandError(connection.failure())
    async with HttpTransport(connection.unwrap()) as transport:
        yield transport


def _default_kubeconfig() -> str:
    named = os.environ.get("KUBECONFIG")
    if named and os.pathsep in named:
        raise CommandError("KUBECONFIG names several files, which are not merged here: give one by --kubeconfig")
    return named or os.path.expanduser("~/.kube/config")  # noqa: PTH111 -- Path.home() fails for a user without a home


class LiveClusters(NamedTuple):
    """The ways to clusters, for use on virtual time, and the namespaces to read."""

    transports: Mapping[Cluster, Transport]
    namespaces: Mapping[Cluster, Sequence[str]]

    def worlds(self, now: datetime, remarks: Remarks = NO_REMARKS) -> Worlds:
        """The clusters as they are at that time, for one controller that plans; what it writes is imagined."""
        return imagined(self.transports, now, namespaces=self.namespaces, stored=remarks.stored)

    def ask(self, question: Question) -> Answer:
        """What a cluster shows."""
        from hedgerow_adapters.kubernetes.live_reads import Questions  # noqa: PLC0415 -- files need none

        readable = {role: world.transport for role, world in self.worlds(datetime.now(UTC)).items()}
        with asyncio.Runner(loop_factory=VirtualClockLoop) as runner:
            try:
                return runner.run(Questions(readable, self.namespaces).ask(question))
            except ReadingError as unreadable:
                raise CommandError(str(unreadable)) from unreadable


@contextlib.contextmanager
def live_clusters(process: ProcessSettings, kubeconfig: str | None, context: str | None) -> Iterator[LiveClusters]:
    """Connections to the clusters of a process, one to each; one that the command line names plays both roles."""
    roles = {Cluster.TARGET: process.looked_after, Cluster.SOURCE: process.source}
    is_named = kubeconfig is not None or context is not None
    files = {role: kubeconfig if is_named else stated.kubeconfig for role, stated in roles.items()}
    with RealTime() as real_time:
        opened: dict[str | None, Transport] = {}
        for file in dict.fromkeys(files.values()):
            opened[file] = real_time.over(real_time.enter(connected(file, context)))
        transports = {role: opened[file] for role, file in files.items()}
        yield LiveClusters(transports, {role: stated.namespaces for role, stated in roles.items()})
