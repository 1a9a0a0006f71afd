"""The controller of Extensions: deploys the monitoring of a Shoot, and cleans its nodes when the extension goes.

An Extension keeps its finalizer until every node is clean. No worker waits for the cleaner: the turn ends, and a change
of the cleaner's ManagedResource, or the end of the wait, brings the next one.

Source: rsyslog-relp §4; decisions D-4 to D-6.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from hedgerow.api.definition_deletion import reads_definitions
from hedgerow.api.gardener import CLUSTERS, EXTENSIONS
from hedgerow.api.kubernetes import CONFIG_MAPS, SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.extensions import operations
from hedgerow.extensions.operations import Extension, OperationType
from hedgerow.extensions.reconciliation import Outcome, Reconciliation, failure, released_with_definition
from hedgerow.machinery.clusters import Permission
from hedgerow.machinery.controller import Context, Controller, Watch, no_key
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import Manifest, ObjectKey, is_terminating, key_of, labels_of
from hedgerow.machinery.patches import merge_patch
from hedgerow.machinery.plan import Create, MergePatch, Plan, failed
from hedgerow.machinery.questions import NotAnswered
from hedgerow.machinery.reading import UnreadableError, object_at, text_at, with_value
from hedgerow.machinery.selectors import field_query
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Now
from hedgerow.resource_manager.builder import deploying
from hedgerow.resource_manager.builder.managed_resource import CONFIGURATION_PROBLEM
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
            reads_definitions(EXTENSIONS),
            Permission.of(CONFIG_MAPS, "get", "create", "patch", "delete"),
            *deploying.PERMISSIONS,
        ),
        reported=operations.REPORTED,
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
        released = await released_with_definition(manifest, FINALIZER)
        return released or await _reconciled(Extension.of(manifest), snapshot, context)
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
        return failure(extension.key, f'{CLUSTERS} "{extension.key.namespace}" not found')
    if _has_failed(cluster):
        return Plan()
    shoot = object_at(cluster, "spec", "shoot")
    waiting = context.state if isinstance(context.state, Waiting) else None

    async def perform(operation: OperationType) -> Outcome:
        match operation:
            case OperationType.MIGRATE:
                return Outcome()
            case OperationType.DELETE:
                return await _cleaned(extension.key.namespace, shoot, context.config.images, waiting)
            case _:
                return await _deployed(extension, shoot, context.config.public_key)

    return await Reconciliation(extension, FINALIZER, OperationType.DELETE if waiting else None).run(perform)


async def _cleaned(namespace: str, shoot: Manifest, images: CleanerImages, waiting: Waiting | None) -> Outcome:
    """Clean the nodes, if there are any, and remove the monitoring."""
    if not shoot:
        return Outcome(NO_SHOOT)
    cleaned = None
    if not operations.is_forced(shoot) and not operations.is_hibernated(shoot):
        # The nodes of a Shoot that is being deleted are gone already.
        unfinished = await clean_nodes(namespace, None if is_terminating(shoot) else images, waiting)
        if isinstance(unfinished, Waiting):
            return Outcome(waits_until=unfinished.until, state=unfinished)
        if unfinished:
            return Outcome(unfinished)
        # What is clean stays clean: only a failure of the cleaning itself begins it anew.
        cleaned = Waiting(Phase.GONE, await Now())
    key = ObjectKey(namespace, MONITORING_CONFIG_MAP)
    return Outcome(await deploying.delete(CONFIG_MAPS, key, "extension-deleted"), state=cleaned)


async def _deployed(extension: Extension, shoot: Manifest, public_key: PublicKey | None) -> Outcome:
    """Deploy the monitoring, and look at the certificates of nodes."""
    error = await _deploy_monitoring(extension) or (None if shoot else NO_SHOOT)
    if error or public_key is None:
        return Outcome(error)
    return Outcome(await _certificates_problem(extension, shoot, public_key), codes=(CONFIGURATION_PROBLEM,))


async def _certificates_problem(extension: Extension, shoot: Manifest, public_key: PublicKey) -> str | None:
    """What is wrong with the Secret of certificates; none as well while it is missing, as it may still come."""
    config = provider_config(extension.provider_config)
    tls = config.active_tls if isinstance(config, RsyslogRelpConfig) else None
    name = referenced_secret(shoot, tls) if tls else None
    if name is None:
        return None
    key = ObjectKey(extension.key.namespace, name)
    secret = await deploying.look(SECRETS, key)
    return secret_problem(key, object_at(secret, "data"), public_key) if isinstance(secret, Mapping) else None


async def _deploy_monitoring(extension: Extension) -> str | None:
    """Why the ConfigMap cannot be as it is to be; labels and annotations of others stay."""
    wanted = monitoring_config_map(extension.key.namespace)
    is_new = extension.last_type is None
    # That of a new Extension is hardly ever there; where it is, its creation fails.
    if is_new and (await Create(CONFIG_MAPS, wanted, "monitoring")).error is None:
        return None
    stored = await deploying.look(CONFIG_MAPS, key_of(wanted))
    if isinstance(stored, NotAnswered):
        return stored.message
    if stored is None:
        return await deploying.sent(Create(CONFIG_MAPS, wanted, "monitoring"))
    labels = {**labels_of(stored), **labels_of(wanted)}
    desired = with_value({**stored, "data": wanted["data"]}, ("metadata", "labels"), labels)
    patch = merge_patch(stored, desired)
    return await deploying.sent(MergePatch(CONFIG_MAPS, key_of(wanted), patch, "monitoring")) if patch else None
