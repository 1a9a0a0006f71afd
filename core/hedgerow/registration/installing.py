"""The controller of ControllerInstallations: deploys the chart of each into the seed, and takes it away again.

A deployment that is no chart is somebody else's: nothing is written about it. Everything is read live, as a chart is
too large for a cache. While that proves that nothing has changed, nothing is rendered or written. Of an installation
that is to go, the ManagedResource goes first, then the Namespace, then the installation itself.

Source: controller-registration §8.2 to §8.10.
"""

from dataclasses import replace
from typing import Final

from hedgerow.api.definition_deletion import goes_with_definition, kept, reads_definitions
from hedgerow.api.kubernetes import CONFIG_MAPS, LEASES, NAMESPACES, SECRETS, namespace_key
from hedgerow.api.managed_resources import DELETION_FAILED, DELETION_PENDING, MANAGED_RESOURCES
from hedgerow.api.references import CLUSTER_IDENTITY
from hedgerow.api.registrations import (
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    INSTALLED,
    SEED_NAMESPACE,
    SEEDS,
)
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.controller import Context, Controller, creation_deletion_or
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import (
    Manifest,
    ObjectKey,
    Resource,
    is_terminating,
    key_of,
    resource_version_of,
    uid_of,
)
from hedgerow.machinery.plan import ApiError, Delete, MergePatch, Plan, failed
from hedgerow.machinery.questions import Answer, NotAnswered
from hedgerow.machinery.reading import UnreadableError, object_at, text_at
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import AtOnce
from hedgerow.registration.chart_deployment import (
    GARDEN,
    InstallationConfig,
    deploy_chart,
    extension_namespace,
    from_garden,
    managed_resource_key,
)
from hedgerow.registration.conclusion import Conclusion, unread
from hedgerow.registration.conditions import writes_conditions_of
from hedgerow.registration.finalizers import with_finalizer
from hedgerow.registration.garden import garden_watch
from hedgerow.registration.installations import (
    FINALIZER,
    Deployment,
    Installation,
    deployment_of,
    is_for,
    managed_resource_watch,
    own_keys,
)
from hedgerow.resource_manager.builder import deploying

WAIT: Final = 30.0
"""Seconds: nothing tells when the Namespace is gone."""
_REASON: Final = "uninstalled"
_CONFLICT: Final = 409
_DONE: Final = (ConditionStatus.FALSE, "DeletionSuccessful", "Deletion of old resources succeeded.")


def installation_controller(config: InstallationConfig, concurrency: int = 20) -> Controller[InstallationConfig]:
    """The controller for a configuration."""
    own = own_keys(config.seed)
    # One that somebody deletes comes again; of an installation that is to go, the Namespace is next.
    is_gone = managed_resource_watch(lambda change: change.new is None)
    return Controller(
        name="controllerinstallation",
        primary=CONTROLLER_INSTALLATIONS,
        primary_cluster=Cluster.SOURCE,
        watches=(garden_watch(CONTROLLER_INSTALLATIONS, own, asks_for_installation, is_desired_state=True), is_gone),
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        permissions=(*_PERMISSIONS, *(_ACCESS_PERMISSIONS if config.garden_access else ())),
        reads_server_version=True,
    )


_PERMISSIONS: Final = (
    *writes_conditions_of(CONTROLLER_INSTALLATIONS),
    Permission.of(CONTROLLER_INSTALLATIONS, "patch", cluster=Cluster.SOURCE),
    reads_definitions(CONTROLLER_INSTALLATIONS, cluster=Cluster.SOURCE),
    *(
        Permission.of(resource, "get", cluster=Cluster.SOURCE)
        for resource in (CONTROLLER_DEPLOYMENTS, CONTROLLER_REGISTRATIONS, SEEDS)
    ),
    Permission.of(NAMESPACES, "get", cluster=Cluster.SOURCE, names=(GARDEN,)),
    Permission.of(
        CONFIG_MAPS,
        "get",
        cluster=Cluster.SOURCE,
        names=(CLUSTER_IDENTITY.name,),
        namespace=CLUSTER_IDENTITY.namespace,
    ),
    Permission.of(NAMESPACES, "get", "create", "patch", "delete"),
    *(replace(permission, namespace=SEED_NAMESPACE) for permission in deploying.PERMISSIONS),
)
_ACCESS_PERMISSIONS: Final = (Permission.of(SECRETS, "get", "create", "patch"), Permission.of(LEASES, "get"))


def _differs(old: Manifest, new: Manifest) -> bool:
    """True if an installation is to go, or is to be deployed from something else; or if nothing has changed at all."""
    if resource_version_of(old) == resource_version_of(new) or (is_terminating(new) and not is_terminating(old)):
        return True
    before, after = object_at(old, "spec"), object_at(new, "spec")
    return object_at(before, "deploymentRef") != object_at(after, "deploymentRef") or any(
        text_at(before, reference, "resourceVersion") != text_at(after, reference, "resourceVersion")
        for reference in ("registrationRef", "seedRef")
    )


asks_for_installation: Final = creation_deletion_or(_differs)
"""The predicate of installations (§8.2)."""


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[InstallationConfig]) -> Plan:
    """Bring the seed to what one installation asks for, and tell of it in its conditions."""
    cached = snapshot.get(CONTROLLER_INSTALLATIONS, key, Cluster.SOURCE)
    if cached is None or not is_for(context.config.seed, cached):
        return Plan()
    # A cache may not show yet that it is on its way out, or what others wrote into its conditions.
    answer = await from_garden(CONTROLLER_INSTALLATIONS, key.name)
    if isinstance(answer, NotAnswered):
        return Plan() if answer.is_not_found else Conclusion(answer.message).plan(key)
    try:
        installation = Installation.of(answer.objects[0])
        if installation.seed != context.config.seed:
            return Plan()
        return await (_uninstall(installation) if installation.is_terminating else _install(installation, context))
    except UnreadableError as error:
        return failed(Failure(CONTROLLER_INSTALLATIONS, key, error.problem))


async def _install(installation: Installation, context: Context[InstallationConfig]) -> Plan:
    """Hold an installation whose deployment is a chart, and deploy it."""
    key, is_held = key_of(installation.manifest), FINALIZER in installation.finalizers
    questions = [from_garden(CONTROLLER_REGISTRATIONS, installation.registration)]
    if installation.deployment is not None:
        questions.append(from_garden(CONTROLLER_DEPLOYMENTS, installation.deployment))
    answers = await AtOnce(tuple(questions))
    deployment = _deployment(installation, questions[-1].resource, answers[-1])
    if isinstance(deployment, Conclusion):
        return await deployment.write(installation.manifest) if is_held else deployment.plan(key)
    if deployment is None or not deployment.is_chart:
        return Plan()
    if not is_held:
        result = await _with_finalizer(installation.manifest, is_held=True)
        if result.stored is None:
            failure = f"failed to add finalizer: {result.error.message}" if result.error else ""
            return Conclusion(failure).plan(key)
        installation = Installation.of(result.stored)
    if isinstance(answers[0], NotAnswered):
        conclusion = unread(CONTROLLER_REGISTRATIONS, answers[0])
    else:
        try:
            conclusion = await deploy_chart(installation, deployment, context)
        except UnreadableError as error:
            conclusion = unread(SEEDS, error)
    return await conclusion.write(installation.manifest)


def _deployment(installation: Installation, resource: Resource, holder: Answer) -> Deployment | Conclusion | None:
    """How an installation is deployed, or why that is not known; none: by nobody."""
    if isinstance(holder, NotAnswered):
        return unread(resource, holder)
    try:
        return deployment_of(installation, holder.objects[0])
    except UnreadableError as error:
        return unread(resource, error)


def _with_finalizer(manifest: Manifest, *, is_held: bool) -> MergePatch:
    return with_finalizer(CONTROLLER_INSTALLATIONS, manifest, FINALIZER, "finalizer", is_held=is_held)


async def _uninstall(installation: Installation) -> Plan:
    """Delete what is in the seed, tell what is left there, and let the installation go once nothing is.

    The finalizer decides, not how the installation is deployed by now. What is in the seed stays if the installation
    goes only because its definition does.
    """
    if FINALIZER not in installation.finalizers:
        return Plan()
    goes = await goes_with_definition(CONTROLLER_INSTALLATIONS, installation.manifest, Cluster.SOURCE)
    if isinstance(goes, NotAnswered):
        problem = f"the definition of ControllerInstallation cannot be read: {goes.message}"
        return await _failed("what is in the seed", problem).write(installation.manifest)
    if goes:
        released = await _let_go(installation)
        stays = kept(CONTROLLER_INSTALLATIONS, installation.manifest, "what it has installed stays", Cluster.SOURCE)
        return released if released.failures else replace(released, events=(stays,))
    unfinished = await _unfinished(installation)
    plan = await (unfinished or Conclusion(conditions={INSTALLED: _DONE})).write(installation.manifest)
    return plan if unfinished or plan.failures else await _let_go(installation)


async def _let_go(installation: Installation) -> Plan:
    """Remove the finalizer."""
    key, answer = key_of(installation.manifest), await from_garden(CONTROLLER_INSTALLATIONS, installation.name)
    if isinstance(answer, NotAnswered):
        return Plan() if answer.is_not_found else Conclusion(answer.message).plan(key)
    (latest,) = answer.objects
    if uid_of(latest) != uid_of(installation.manifest):
        return Plan()  # another one has taken its name, and has a turn of its own
    error = (await _with_finalizer(latest, is_held=False)).error
    return Plan() if error is None or error.is_not_found else Conclusion(error.message).plan(key)


async def _unfinished(installation: Installation) -> Conclusion | None:
    """Why the installation cannot go yet; none: nothing of it is in the seed any more."""
    seed = await from_garden(SEEDS, installation.seed)
    if isinstance(seed, NotAnswered):
        return unread(SEEDS, seed)
    managed_resource = managed_resource_key(installation.name)
    subject = f'ManagedResource "{managed_resource.name}"'
    if error := await deploying.remove(managed_resource, _REASON, with_prefix=False):
        return _failed(f"{subject} and its secrets", error)
    left: Manifest | NotAnswered | ApiError | None = await deploying.look(MANAGED_RESOURCES, managed_resource)
    if left is None:
        namespace = namespace_key(extension_namespace(installation.name))
        subject = f'Namespace "{namespace.name}"'
        left = await _delete_namespace(namespace)
    if left is None:
        return None
    if isinstance(left, NotAnswered | ApiError):
        return _failed(subject, left.message)
    pending = (ConditionStatus.FALSE, DELETION_PENDING, f"Deletion of {subject} is still pending.")
    return Conclusion(conditions={INSTALLED: pending}, requeue_after=WAIT)


def _failed(subject: str, error: str) -> Conclusion:
    message = f"Deletion of {subject} failed: {error}"
    return Conclusion(message, {INSTALLED: (ConditionStatus.FALSE, DELETION_FAILED, message)})


async def _delete_namespace(key: ObjectKey) -> Manifest | NotAnswered | ApiError | None:
    """The Namespace that is going, or why it does not; none: it is gone."""
    namespace = await deploying.look(NAMESPACES, key)
    if namespace is None or isinstance(namespace, NotAnswered) or is_terminating(namespace):
        return namespace
    error = (await Delete(NAMESPACES, key, _REASON, uid_of(namespace))).error
    return namespace if error is None or error.code == _CONFLICT else error
