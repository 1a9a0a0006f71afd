"""The controller of Extensions: deploys the monitoring of a Shoot, and cleans its nodes when the extension goes.

An Extension keeps its finalizer until every node is clean. No worker waits for the cleaner: the turn ends, and a change
of the cleaner's ManagedResource, or the end of the wait, brings the next one.

Source: rsyslog-relp §4; decisions D-4 to D-6.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from returns.result import Success

from hedgerow.api.gardener import CLUSTERS, EXTENSIONS, FORCE_DELETION
from hedgerow.api.kubernetes import CONFIG_MAPS, SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES, OPERATION
from hedgerow.extensions import operations
from hedgerow.extensions.operations import Extension, OperationType
from hedgerow.machinery.clusters import Permission
from hedgerow.machinery.controller import Context, Controller, Watch, no_key
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of, is_terminating, key_of, labels_of
from hedgerow.machinery.patches import merge_patch
from hedgerow.machinery.plan import Create, MergePatch, Plan, failed
from hedgerow.machinery.questions import NotAnswered
from hedgerow.machinery.reading import UnreadableError, boolean_at, object_at, text_at, with_value
from hedgerow.machinery.scalars import parse_bool
from hedgerow.machinery.selectors import field_query
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Now
from hedgerow.resource_manager.builder import deploying
from hedgerow.resource_manager.builder.managed_resource import error_codes
from hedgerow.rsyslog_relp.cleaning import CleanerImages, Phase, Waiting, clean_nodes
from hedgerow.rsyslog_relp.config import RsyslogRelpConfig
from hedgerow.rsyslog_relp.monitoring import monitoring_config_map
from hedgerow.rsyslog_relp.naming import CLEANER_MANAGED_RESOURCE, FINALIZER, MONITORING_CONFIG_MAP, TYPE
from hedgerow.rsyslog_relp.operating_system_config import provider_config, referenced_secret
from hedgerow.rsyslog_relp.seed import transform_cluster, transform_extension
from hedgerow.rsyslog_relp.validation import PublicKey, secret_problem

NAME: Final = "shoot_rsyslog_relp_lifecycle_controller"
DEFAULT_CONCURRENCY: Final = 5
NO_SHOOT: Final = "cluster.shoot is not yet populated"


@dataclass(frozen=True, slots=True)
class LifecycleConfig:
    """What the component configuration says about the controller."""

    images: CleanerImages = field(default_factory=CleanerImages)
    ignore_operation_annotation: bool = False
    """Whether every change of an Extension's specification is followed, not only what its annotation asks for."""
    public_key: PublicKey | None = None
    """Reads the values of Secrets with certificates; none: nobody looks at them."""


_DEFAULTS: Final = LifecycleConfig()


def lifecycle_controller(
    config: LifecycleConfig = _DEFAULTS, concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[LifecycleConfig]:
    """The controller for a configuration."""
    follows_all = config.ignore_operation_annotation
    predicate = operations.changes_generation if follows_all else operations.asks_for_operation
    cleaner_only = field_query({"metadata.name": CLEANER_MANAGED_RESOURCE})
    return Controller(
        name=NAME,
        primary=EXTENSIONS,
        watches=(
            Watch(EXTENSIONS, transform_extension, _unless_failed, predicate, is_desired_state=True),
            Watch(CLUSTERS, transform_cluster, no_key),
            Watch(MANAGED_RESOURCES, _transform_cleaner, _extension_of, field_selector=cleaner_only),
        ),
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        permissions=(
            Permission.of(EXTENSIONS, "patch"),
            Permission.of(EXTENSIONS, "patch", subresource="status"),
            Permission.of(CONFIG_MAPS, "get", "create", "patch", "delete"),
            *deploying.PERMISSIONS,
        ),
    )


def _unless_failed(extension: Manifest, snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    """The key of an Extension of ours whose Cluster exists, and whose Shoot has not failed."""
    key = key_of(extension)
    cluster = _cluster_of(key, snapshot)
    is_watched = operations.is_of_type(extension, TYPE) and cluster is not None and not _has_failed(cluster)
    return (key,) if is_watched else ()


def _extension_of(managed_resource: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    return (ObjectKey(key_of(managed_resource).namespace, TYPE),)


def _transform_cleaner(managed_resource: Manifest) -> Manifest:
    """A change of any kind brings a turn, which reads the ManagedResource live."""
    metadata = object_at(managed_resource, "metadata")
    return {"metadata": {name: metadata.get(name) for name in ("namespace", "name", "resourceVersion")}}


def _cluster_of(key: ObjectKey, snapshot: Snapshot) -> Manifest | None:
    return snapshot.get(CLUSTERS, ObjectKey("", key.namespace))


def _has_failed(cluster: Manifest) -> bool:
    return text_at(cluster, "spec", "shoot", "status", "lastOperation", "state") == "Failed"


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[LifecycleConfig]) -> Plan:
    """Perform the operation that an Extension asks for, and tell of it in its status.

    What cannot be done yet stays asked for: the annotation is taken off when the operation begins.
    """
    manifest = snapshot.get(EXTENSIONS, key)
    if manifest is None or not operations.is_of_type(manifest, TYPE):
        return Plan()
    try:
        return await _reconciled(Extension.of(manifest), snapshot, context)
    except UnreadableError as error:
        return failed(Failure(EXTENSIONS, key, error.problem))


async def _reconciled(extension: Extension, snapshot: Snapshot, context: Context[LifecycleConfig]) -> Plan:
    if extension.requested == operations.WAIT_FOR_STATE:
        return Plan()
    rest = extension.rest(context.now, context.config.ignore_operation_annotation).total_seconds()
    if rest > 0:
        return Plan(requeue_after=rest)
    cluster = _cluster_of(extension.key, snapshot)
    if cluster is None:
        return _failure(extension.key, f'{CLUSTERS} "{extension.key.namespace}" not found')
    if _has_failed(cluster):
        return Plan()
    return await Reconciliation(extension, object_at(cluster, "spec", "shoot"), context).run()


def _failure(key: ObjectKey, error: str) -> Plan:
    return failed(Failure(EXTENSIONS, key, Problem("", error), retryable=True))


class Reconciliation:
    """One reconciliation of an Extension, which is known as the API server stored it last."""

    def __init__(self, extension: Extension, shoot: Manifest, context: Context[LifecycleConfig]) -> None:
        """A reconciliation that has not begun.

        Args:
            extension: ours.
            shoot: as its Cluster shows it; empty: the Cluster shows none yet.
            context: of the turn.
        """
        self.extension = extension
        self.shoot = shoot
        self.images = context.config.images
        self.public_key = context.config.public_key
        self.is_gone = False
        self.cleaned: Waiting | None = None
        """What the next turn goes on with once all nodes are clean."""
        self.waiting = context.state if isinstance(context.state, Waiting) else None

    async def run(self) -> Plan:
        """Perform the operation that is due."""
        operation = self.extension.operation
        if operation is None or (operation is OperationType.DELETE and FINALIZER not in self.extension.finalizers):
            return self._ended(await self._take_request())
        # The request goes once the status keeps it: should the process die in between, it is still to be done.
        if error := await self._begin(operation) or await self._take_request():
            return self._ended(error)
        if self.is_gone:
            return Plan()
        return await self._concluded(operation, await self._perform(operation))

    def _ended(self, error: str | None) -> Plan:
        """The plan without anything more to do, or with the error that ends the turn."""
        if error is None:
            return Plan()
        # What is clean stays clean: only a failure of the cleaning itself begins it anew.
        return replace(_failure(self.extension.key, error), state=self.cleaned)

    async def _concluded(self, operation: OperationType, performed: Waiting | str | None) -> Plan:
        """Tell what became of an operation, unless it waits, and finish one that has succeeded."""
        now = await Now()
        if isinstance(performed, Waiting):
            return Plan(requeue_after=(performed.until - now).total_seconds(), state=performed)
        generation = self.extension.generation
        if performed is not None:
            status = operations.failed(operation, generation, performed, error_codes(performed), now)
            await self._patch("failed", {"status": status}, subresource="status")
            return self._ended(performed)
        status = operations.succeeded(operation, generation, now)
        is_resumed = operation is OperationType.MIGRATE and self.extension.requested != operations.MIGRATE
        # Nothing but the status asks for this migration, and once that says that it is over nothing does.
        if is_resumed and (error := await self._set_finalizers([], "migrated")):
            return self._ended(error)
        error = await self._patch("succeeded", {"status": status}, subresource="status") or await self._end(operation)
        is_followed = error is None and operation in {OperationType.CREATE, OperationType.RECONCILE}
        return Plan(requeue_after=operations.PERIOD.total_seconds()) if is_followed else self._ended(error)

    async def _begin(self, operation: OperationType) -> str | None:
        """Hold the Extension, and tell that the operation has begun."""
        if operation is OperationType.DELETE and self.waiting:
            return None
        finalizers = self.extension.finalizers
        if operation not in {OperationType.DELETE, OperationType.MIGRATE} and FINALIZER not in finalizers:
            error = await self._set_finalizers([*finalizers, FINALIZER], "held")
            if error:
                return f"failed to add finalizer: {error}"
        status = operations.started(operation, await Now())
        return await self._patch("started", {"status": status}, subresource="status")

    async def _perform(self, operation: OperationType) -> Waiting | str | None:
        """What to wait for, or why the operation failed; none: it succeeded."""
        match operation:
            case OperationType.MIGRATE:
                return None
            case OperationType.DELETE:
                return await self._clean()
            case _:
                error = await _deploy_monitoring(self.extension.key.namespace)
                return error or (await self._certificates_problem() if self.shoot else NO_SHOOT)

    async def _certificates_problem(self) -> str | None:
        """What is wrong with the Secret of certificates; none as well while it is missing, as it may still come."""
        config = provider_config(self.extension.provider_config)
        tls = config.active_tls if isinstance(config, RsyslogRelpConfig) else None
        name = referenced_secret(self.shoot, tls) if tls else None
        if self.public_key is None or name is None:
            return None
        key = ObjectKey(self.extension.key.namespace, name)
        secret = await deploying.look(SECRETS, key)
        return secret_problem(key, object_at(secret, "data"), self.public_key) if isinstance(secret, Mapping) else None

    async def _end(self, operation: OperationType) -> str | None:
        """Take off what the operation leaves behind; an Extension that is gone by then has nothing left."""
        match operation:
            case OperationType.DELETE:
                others = [each for each in self.extension.finalizers if each != FINALIZER]
                return await self._set_finalizers(others, "released")
            case OperationType.MIGRATE if self.extension.finalizers:
                return await self._set_finalizers([], "migrated") or await self._remove_annotation()
            case OperationType.MIGRATE | OperationType.RESTORE:
                return await self._remove_annotation()
            case _:
                return None

    async def _clean(self) -> Waiting | str | None:
        """Clean the nodes, if there are any, and remove the monitoring."""
        if not self.shoot:
            return NO_SHOOT
        namespace = self.extension.key.namespace
        if not _is_forced(self.shoot) and not _is_hibernated(self.shoot):
            # The nodes of a Shoot that is being deleted are gone already.
            images = None if is_terminating(self.shoot) else self.images
            if unfinished := await clean_nodes(namespace, images, self.waiting):
                return unfinished
            self.cleaned = Waiting(Phase.GONE, await Now())
        key = ObjectKey(namespace, MONITORING_CONFIG_MAP)
        return await deploying.delete(CONFIG_MAPS, key, "extension-deleted")

    async def _take_request(self) -> str | None:
        return await self._remove_annotation() if self.extension.requested == operations.RECONCILE else None

    async def _remove_annotation(self) -> str | None:
        if self.extension.requested is None or self.is_gone:
            return None
        return await self._patch("operation-taken", {"metadata": {"annotations": {OPERATION: None}}})

    async def _set_finalizers(self, finalizers: list[str], reason: str) -> str | None:
        return await self._patch(reason, {"metadata": {"finalizers": finalizers or None}})

    async def _patch(self, reason: str, patch: Mapping[str, Any], *, subresource: str = "") -> str | None:
        """Change the Extension, and know it as it is then; one that is gone needs no change.

        Only the version that was decided about is changed: another Extension of its name may have been made since, and
        a merge patch replaces the whole list of finalizers.
        """
        version = self.extension.resource_version
        result = await MergePatch(EXTENSIONS, self.extension.key, patch, reason, version, subresource)
        if result.error is not None:
            self.is_gone = result.error.is_not_found
            return None if self.is_gone else result.error.message
        if result.stored is None:
            self.is_gone = True
        else:
            self.extension = Extension.of(result.stored)
        return None


async def _deploy_monitoring(namespace: str) -> str | None:
    """Why the ConfigMap cannot be as it is to be; labels and annotations of others stay."""
    wanted = monitoring_config_map(namespace)
    stored = await deploying.look(CONFIG_MAPS, key_of(wanted))
    if isinstance(stored, NotAnswered):
        return stored.message
    if stored is None:
        return await deploying.sent(Create(CONFIG_MAPS, wanted, "monitoring"))
    labels = {**labels_of(stored), **labels_of(wanted)}
    desired = with_value({**stored, "data": wanted["data"]}, ("metadata", "labels"), labels)
    patch = merge_patch(stored, desired)
    return await deploying.sent(MergePatch(CONFIG_MAPS, key_of(wanted), patch, "monitoring")) if patch else None


def _is_forced(shoot: Manifest) -> bool:
    """Whether the Shoot's deletion waits for nothing."""
    return parse_bool(annotations_of(shoot).get(FORCE_DELETION, "")) == Success(inner_value=True)


def _is_hibernated(shoot: Manifest) -> bool:
    """Whether the Shoot has no nodes; one that falls asleep or wakes up may have some."""
    asked_for = boolean_at(shoot, "spec", "hibernation", "enabled")
    return bool(asked_for and boolean_at(shoot, "status", "hibernated"))
