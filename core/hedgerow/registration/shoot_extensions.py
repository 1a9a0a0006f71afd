"""The controller of the Extensions of Shoots: makes, deletes and awaits them in the order of their lifecycles.

It works where no gardenlet does, and knows no flow of a Shoot: all that it sees of the kube-apiserver is its Deployment
in the Shoot's namespace. Before the kube-apiserver means at once; after it means once the Deployment is available. In
the deletion of a Shoot, after it means once the Deployment is gone, or has no replicas. A Shoot that hibernates has the
inverted order. No worker waits: a change of an Extension, of the Deployment or of the namespace brings the next turn.

Source: controller-registration §12.1 to §12.3.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from hedgerow.admission.deletion_protection import confirm_deletion
from hedgerow.api.definition_deletion import goes_with_definition, kept, lost_definition, reads_definitions
from hedgerow.api.gardener import EXTENSIONS, SHOOTS
from hedgerow.api.kubernetes import DEPLOYMENTS, NAMESPACES
from hedgerow.api.managed_resources import OPERATION
from hedgerow.api.registrations import CONTROLLER_REGISTRATIONS
from hedgerow.extensions.operations import RECONCILE
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Context, Controller, Watch, creation_deletion_or
from hedgerow.machinery.failures import Failure, retryable_failure
from hedgerow.machinery.objects import (
    Manifest,
    ObjectKey,
    Resource,
    annotations_of,
    is_terminating,
    key_of,
    labels_of,
    resource_version_of,
    uid_of,
)
from hedgerow.machinery.patches import merge_patch
from hedgerow.machinery.plan import Create, Delete, Event, MergePatch, Plan, WriteResult, failed
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError, boolean_at, integer_at, keeping, list_at, text_at
from hedgerow.machinery.scalars import parse_timestamp
from hedgerow.machinery.selectors import field_query
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import concurrently
from hedgerow.registration.extensions import (
    LABEL_PREFIX,
    PATIENCE_WITH_ERRORS,
    TIMESTAMP,
    ExtensionSpec,
    extension_unready,
    extensions_for_shoot,
    is_before,
    namespace_labels,
    registered_extensions,
    requested_extension,
)
from hedgerow.registration.finalizers import with_finalizer
from hedgerow.registration.garden import SHOOTS_BY_NAMESPACE, garden_watch, readable_text
from hedgerow.registration.registrations import LIFECYCLE, Registration
from hedgerow.registration.wanted import has_workers, listed_extensions

FINALIZER: Final = "core.gardener.cloud/shootextensions"
"""Of a Shoot that may have Extensions."""
GENERATION: Final = f"{LABEL_PREFIX}shoot-generation"
"""Annotation of an Extension: the generation of the Shoot that it was last deployed for."""
KUBE_APISERVER: Final = "kube-apiserver"
DELETION_TIMEOUT: Final = timedelta(minutes=3)
_METADATA: Final = tuple(
    f"metadata.{name}" for name in ("namespace", "name", "uid", "resourceVersion", "generation", "deletionTimestamp")
)

_STATUS: Final = tuple(f"status.{name}" for name in ("observedGeneration", "lastError", "lastOperation"))
"""Not the state and the providerStatus of an Extension, which may be large."""


def shoot_extensions_controller(seed: str = "", concurrency: int = 5) -> Controller[str]:
    """The controller of the Shoots of a Seed; without its name, of all."""

    def own(shoots: Iterable[Manifest]) -> list[ObjectKey]:
        return [key_of(shoot) for shoot in shoots if _is_own(shoot, seed)]

    def in_namespace(manifest: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
        namespace, name = key_of(manifest)
        return own(snapshot.by_index(SHOOTS_BY_NAMESPACE, ObjectKey("", namespace or name)))

    return Controller(
        name="shoot-extensions",
        primary=SHOOTS,
        primary_cluster=Cluster.SOURCE,
        watches=(
            Watch(
                SHOOTS,
                keeping(
                    *_METADATA,
                    "metadata.finalizers",
                    "spec.seedName",
                    "spec.extensions",
                    "spec.provider.workers.name",
                    "spec.hibernation.enabled",
                    "status.seedName",
                    "status.technicalID",
                ),
                lambda shoot, _snapshot: own([shoot]),
                cluster=Cluster.SOURCE,
            ),
            garden_watch(
                CONTROLLER_REGISTRATIONS,
                lambda _registration, snapshot: own(snapshot.list(SHOOTS, cluster=Cluster.SOURCE)),
                creation_deletion_or(lambda old, new: _resources(old) != _resources(new)),
            ),
            Watch(
                EXTENSIONS,
                keeping(
                    *(*_METADATA, "metadata.creationTimestamp", "spec", *_STATUS),
                    annotations=(OPERATION, TIMESTAMP, GENERATION),
                ),
                in_namespace,
                may_be_absent=True,
            ),
            Watch(NAMESPACES, keeping(*_METADATA, "metadata.labels"), in_namespace, metadata_only=True),
            Watch(
                DEPLOYMENTS,
                keeping(
                    "metadata.namespace", "metadata.name", "metadata.uid", "spec.replicas", "status.availableReplicas"
                ),
                in_namespace,
                field_selector=field_query({"metadata.name": KUBE_APISERVER}),
            ),
        ),
        indexes=(SHOOTS_BY_NAMESPACE,),
        concurrency=concurrency,
        config=seed,
        reconcile=reconcile,
        permissions=(
            Permission.of(SHOOTS, "get", "patch", cluster=Cluster.SOURCE),
            reads_definitions(SHOOTS, CONTROLLER_REGISTRATIONS, cluster=Cluster.SOURCE),
            Permission.of(EXTENSIONS, "create", "patch", "delete"),
            Permission.of(NAMESPACES, "patch"),
        ),
    )


def _is_own(shoot: Manifest, only_seed: str) -> bool:
    """True if a Shoot is on the seed; one that moves to another is not, before it has arrived."""
    seed, former = readable_text(shoot, "spec", "seedName"), readable_text(shoot, "status", "seedName")
    return bool(seed) and only_seed in {"", seed} and former in {None, "", seed}


def _resources(registration: Manifest) -> Any:
    return (registration.get("spec") or {}).get("resources")


def _identity(shoot: Manifest) -> tuple[Any, ...]:
    """What tells a Shoot from one of its name, of another specification, or before its deletion."""
    return tuple(shoot["metadata"].get(name) for name in ("uid", "generation", "deletionTimestamp"))


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[str]) -> Plan:
    """Bring the Extensions of one Shoot to what its specification and the registrations ask for."""
    shoot = snapshot.get(SHOOTS, key, Cluster.SOURCE)
    if shoot is None or not _is_own(shoot, context.config):
        return Plan()
    try:
        namespace = text_at(shoot, "status", "technicalID")
        if not namespace:
            return Plan()
        work = Work(shoot, namespace, snapshot, context.now)
        await (work.delete() if is_terminating(shoot) else work.deploy())
    except UnreadableError as error:
        return failed(Failure(SHOOTS, key, error.problem))
    return Plan(events=tuple(work.events), failures=tuple(work.failures), requeue_after=min(work.waits, default=None))


class Work:
    """One turn of a Shoot, whose objects in the seed are in a namespace."""

    def __init__(self, shoot: Manifest, namespace: str, snapshot: Snapshot, now: datetime) -> None:
        """Read what there is."""
        self.shoot, self.namespace, self.now = shoot, namespace, now
        self.generation = str(integer_at(shoot, "metadata", "generation") or 0)
        self.listed = listed_extensions(shoot)
        self.is_held = FINALIZER in list_at(shoot, "metadata", "finalizers")
        self.is_current: bool | None = None
        self.waits: list[float] = []
        """Seconds after which something takes too long that is awaited."""
        self.failures: list[Failure] = []
        self.events: list[Event] = []
        self.registrations: list[Registration] = []
        for manifest in sorted(snapshot.list(CONTROLLER_REGISTRATIONS, cluster=Cluster.SOURCE), key=key_of):
            try:
                self.registrations.append(Registration.of(manifest))
            except UnreadableError as error:
                self.failures.append(Failure(CONTROLLER_REGISTRATIONS, key_of(manifest), error.problem))
        self.knows_all_types = not self.failures
        found = snapshot.list(EXTENSIONS, namespace=namespace)
        self.existing = {key_of(each).name: each for each in sorted(found, key=key_of)}
        self.namespace_object = snapshot.get(NAMESPACES, ObjectKey("", namespace))
        deployment = snapshot.get(DEPLOYMENTS, ObjectKey(namespace, KUBE_APISERVER)) or {}
        self.is_down = not deployment or integer_at(deployment, "spec", "replicas") == 0
        self.is_up = not self.is_down and bool(integer_at(deployment, "status", "availableReplicas"))

    async def deploy(self) -> None:
        """Make the Extensions that the Shoot has, in order, and delete those that it does not have."""
        if self.namespace_object is None or is_terminating(self.namespace_object):
            return
        wanted = extensions_for_shoot(
            self.registrations, self.listed, self.namespace, workerless=not has_workers(self.shoot)
        )
        if (wanted or self.existing) and not await self._hold(is_held=True):
            return
        if not await self._label(self.namespace_object):
            return
        if self.knows_all_types:
            stale = [each for each in self.existing.values() if readable_text(each, "spec", "type") not in wanted]
            decisive = [CONTROLLER_REGISTRATIONS, SHOOTS]
            if stale and self._may_delete(await lost_definition(decisive, Cluster.SOURCE, unwanted=stale)):
                await self._delete(stale)
        before = [each for each in wanted.values() if is_before(each.lifecycle, "reconcile")]
        after = [each for each in wanted.values() if each not in before]
        if boolean_at(self.shoot, "spec", "hibernation", "enabled"):
            first, then, is_time = after, before, self.is_down
        else:
            first, then, is_time = before, after, self.is_up
        if await self._deployed(first) and is_time:
            await self._deployed(then)

    async def delete(self) -> None:
        """Delete the Extensions of the Shoot, in order, and let the Shoot go; it goes alone with its definition."""
        if self.is_held or self.existing:
            if not await self._is_current():
                return
            match await goes_with_definition(SHOOTS, self.shoot, Cluster.SOURCE):
                case NotAnswered() as unknown:
                    self._fail_unknown(unknown)
                    return
                case True:
                    self.events.append(kept(SHOOTS, self.shoot, "its Extensions stay", Cluster.SOURCE))
                    await self._hold(is_held=False)
                    return
                case False:
                    pass
        registered = registered_extensions(self.registrations, self.namespace)

        def goes_before(extension: Manifest) -> bool:
            known = registered.get(readable_text(extension, "spec", "type") or "")
            return is_before(known.lifecycle if known else LIFECYCLE, "delete")

        before = [each for each in self.existing.values() if goes_before(each)]
        after = [each for each in self.existing.values() if each not in before]
        await self._delete(before or (after if self.is_down else []))
        if self.is_held and not self.existing and await self._has_none():
            await self._hold(is_held=False)

    def _may_delete(self, lost: Resource | NotAnswered | None) -> bool:
        """True if Extensions are unwanted; not if a definition is lost without which they only seem so."""
        if isinstance(lost, NotAnswered):
            self._fail_unknown(lost)
        elif lost is not None:
            self.events.append(kept(SHOOTS, self.shoot, "its Extensions stay", Cluster.SOURCE, lost=lost))
        return lost is None

    def _fail_unknown(self, answer: NotAnswered) -> None:
        self._fail(f"could not read whether definitions are being deleted, so no Extension is: {answer.message}")

    async def _is_current(self) -> bool:
        """True if the Shoot still is as the cache shows it; asked once, before the first write."""
        if self.is_current is None:
            answer = await ObjectQuestion(SHOOTS, key_of(self.shoot), Cluster.SOURCE)
            if isinstance(answer, NotAnswered):
                self._fail_unless_gone(answer)
            self.is_current = isinstance(answer, Found) and _identity(answer.objects[0]) == _identity(self.shoot)
        return self.is_current

    async def _has_none(self) -> bool:
        """True if no Extension is left, also none that the cache does not show yet."""
        answer = await ListQuestion(EXTENSIONS, Cluster.TARGET, self.namespace, metadata_only=True)
        if isinstance(answer, Found):
            return not answer.objects
        self._fail_unless_gone(answer)
        return answer.is_not_found

    def _fail_unless_gone(self, answer: NotAnswered) -> None:
        if not answer.is_not_found:
            self._fail(answer.message)

    async def _hold(self, *, is_held: bool) -> bool:
        """Keep the Shoot until its Extensions are gone, or let it go; True if that is done."""
        if self.is_held is is_held:
            return True
        reason = "shoot-held" if is_held else "extensions-gone"
        return self._has_succeeded(await with_finalizer(SHOOTS, self.shoot, FINALIZER, reason, is_held=is_held))

    async def _label(self, namespace: Manifest) -> bool:
        """Label the Shoot's namespace with its types; True if it has the labels."""
        wanted = namespace_labels(self.registrations, self.listed)
        labels = labels_of(namespace)
        stale = {name for name in labels if name.startswith(LABEL_PREFIX)} if self.knows_all_types else ()
        changes = {name: text for name, text in {**dict.fromkeys(stale), **wanted}.items() if labels.get(name) != text}
        if not changes:
            return True
        patch = {"metadata": {"labels": changes}}
        label = MergePatch(NAMESPACES, key_of(namespace), patch, "extension-types", resource_version_of(namespace))
        return await self._is_current() and self._has_succeeded(await label)

    async def _deployed(self, extensions: Sequence[ExtensionSpec]) -> bool:
        """Deploy what is not as it is wanted; True if all are ready."""
        due = [each for each in extensions if self._is_due(each)]
        if due and not (await self._is_current() and all(await concurrently([self._put(each) for each in due]))):
            return False
        ready = [self._is_ready(each) for each in extensions]
        return all(ready)

    def _is_due(self, extension: ExtensionSpec) -> bool:
        stored = self.existing.get(extension.name)
        if stored is None:
            return True
        changes = merge_patch(stored, requested_extension(extension, stored, RECONCILE, self.now, {}))
        is_outdated = "spec" in changes or annotations_of(stored).get(GENERATION) != self.generation
        return is_outdated and not is_terminating(stored)

    async def _put(self, extension: ExtensionSpec) -> bool:
        stored = self.existing.get(extension.name)
        desired = requested_extension(extension, stored, RECONCILE, self.now, {GENERATION: self.generation})
        write: Create | MergePatch = Create(EXTENSIONS, desired, "extension-wanted")
        if stored is not None:
            patch, version = merge_patch(stored, desired), resource_version_of(stored)
            write = MergePatch(EXTENSIONS, key_of(stored), patch, "extension-wanted", version)
        result = await write
        if result.stored is not None:
            self.existing[extension.name] = result.stored
        return self._has_succeeded(result)

    def _is_ready(self, extension: ExtensionSpec) -> bool:
        stored = self.existing.get(extension.name)
        if stored is None:
            return False
        if is_terminating(stored):
            self._await_deletion(stored)
            return False
        try:
            unready = extension_unready(stored)
        except UnreadableError as error:
            self.failures.append(Failure(EXTENSIONS, key_of(stored), error.problem))
            return False
        if unready is not None:
            timeout = min(extension.timeout, PATIENCE_WITH_ERRORS) if unready.from_controller else extension.timeout
            problem = f"Error while waiting for Extension {key_of(stored)} to become ready: {unready.reason}"
            self._wait(annotations_of(stored).get(TIMESTAMP), timeout, problem)
        return unready is None

    async def _delete(self, extensions: Sequence[Manifest]) -> None:
        doomed = [each for each in extensions if not is_terminating(each)]
        if doomed and not await self._is_current():
            return
        await concurrently([self._remove(each) for each in doomed])
        for each in extensions:
            if (stored := self.existing.get(key_of(each).name)) is not None:
                self._await_deletion(stored)

    async def _remove(self, extension: Manifest) -> None:
        """Confirm the deletion of an Extension, and delete it."""
        key, version = key_of(extension), resource_version_of(extension)
        confirmation = confirm_deletion(extension, self.now)
        result = await MergePatch(EXTENSIONS, key, confirmation, "extension-unwanted", version)
        if result.stored is not None:
            version = resource_version_of(result.stored)
            result = await Delete(EXTENSIONS, key, "extension-unwanted", uid_of(extension), version)
        if result.error is not None and not result.error.is_not_found:
            self._fail(result.error.message)
        elif result.stored is None:
            del self.existing[key.name]
        else:
            self.existing[key.name] = result.stored

    def _await_deletion(self, extension: Manifest) -> None:
        error = readable_text(extension, "status", "lastError", "description") or ""
        about = f"Extension {key_of(extension)}"
        problem = f"Failed to delete {about}: {about} is still present, last observed error: {error}"
        self._wait(readable_text(extension, "metadata", "deletionTimestamp"), DELETION_TIMEOUT, problem)

    def _wait(self, since: str | None, timeout: timedelta, problem: str) -> None:
        """Wait for an Extension; after the timeout that is a failure."""
        rest = (parse_timestamp(since) or self.now) + timeout - self.now
        if rest > timedelta(0):
            self.waits.append(rest.total_seconds())
        else:
            self._fail(problem)

    def _has_succeeded(self, result: WriteResult) -> bool:
        if result.error is not None:
            self._fail(result.error.message)
        return result.error is None

    def _fail(self, problem: str) -> None:
        self.failures.append(retryable_failure(SHOOTS, key_of(self.shoot), problem))
