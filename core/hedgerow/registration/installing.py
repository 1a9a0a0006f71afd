"""The controller of ControllerInstallations: deploys the chart of each into the seed, and takes it away again.

A deployment that is no chart is somebody else's: nothing is written about it. Everything is read live, as a chart is
too large for a cache. While that proves that nothing has changed, nothing is rendered or written.

Source: controller-registration §8.2 to §8.9.
"""

from dataclasses import replace
from typing import Final

from hedgerow.api.kubernetes import CONFIG_MAPS, LEASES, NAMESPACES, SECRETS
from hedgerow.api.references import CLUSTER_IDENTITY
from hedgerow.api.registrations import (
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    SEED_NAMESPACE,
    SEEDS,
)
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Context, Controller, creation_deletion_or
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import Manifest, ObjectKey, is_terminating, key_of, resource_version_of
from hedgerow.machinery.plan import Plan, failed
from hedgerow.machinery.questions import Answer, NotAnswered
from hedgerow.machinery.reading import UnreadableError, object_at, text_at
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import AtOnce
from hedgerow.registration.chart_deployment import GARDEN, InstallationConfig, deploy_chart, from_garden
from hedgerow.registration.conclusion import problem, set_finalizers, unread, unreadable
from hedgerow.registration.garden import garden_watch
from hedgerow.registration.installations import FINALIZER, Deployment, Installation, deployment_of, is_for
from hedgerow.registration.uninstalling import uninstall
from hedgerow.resource_manager.builder import deploying

NAME: Final = "controllerinstallation"
DEFAULT_CONCURRENCY: Final = 20


def installation_controller(
    config: InstallationConfig, concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[InstallationConfig]:
    """The controller for a configuration."""

    def own_key(installation: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
        return (key_of(installation),) if is_for(config.seed, installation) else ()

    return Controller(
        name=NAME,
        primary=CONTROLLER_INSTALLATIONS,
        primary_cluster=Cluster.SOURCE,
        watches=(garden_watch(CONTROLLER_INSTALLATIONS, own_key, asks_for_installation, is_desired_state=True),),
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        permissions=(*_PERMISSIONS, *(_ACCESS_PERMISSIONS if config.garden_access else ())),
        reads_server_version=True,
    )


_PERMISSIONS: Final = (
    Permission.of(CONTROLLER_INSTALLATIONS, "get", "patch", cluster=Cluster.SOURCE),
    Permission.of(CONTROLLER_INSTALLATIONS, "patch", cluster=Cluster.SOURCE, subresource="status"),
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
        return Plan() if answer.is_not_found else problem(key, answer.message).plan
    try:
        installation = Installation.of(answer.objects[0])
        if installation.seed != context.config.seed:
            return Plan()
        return await (uninstall(installation) if installation.is_terminating else _install(installation, context))
    except UnreadableError as error:
        return failed(Failure(CONTROLLER_INSTALLATIONS, key, error.problem))


async def _install(installation: Installation, context: Context[InstallationConfig]) -> Plan:
    """Hold an installation whose deployment is a chart, and deploy it."""
    key, is_held = key_of(installation.manifest), FINALIZER in installation.finalizers
    questions = [from_garden(CONTROLLER_REGISTRATIONS, installation.registration)]
    if installation.deployment is not None:
        questions.append(from_garden(CONTROLLER_DEPLOYMENTS, installation.deployment))
    registration, *referred = await AtOnce(tuple(questions))
    deployment = _deployment(installation, registration, *referred)
    if isinstance(deployment, NotAnswered):
        conclusion = unread(key, questions[-1].resource, deployment)
        return await conclusion.write(installation.manifest) if is_held else conclusion.plan
    if deployment is None or not deployment.is_chart:
        return Plan()
    if not is_held:
        result = await set_finalizers(installation, [*installation.finalizers, FINALIZER])
        if result.stored is None:
            return problem(key, f"failed to add finalizer: {result.error.message}").plan if result.error else Plan()
        installation = Installation.of(result.stored)
    if isinstance(registration, NotAnswered):
        conclusion = unread(key, CONTROLLER_REGISTRATIONS, registration)
    else:
        try:
            conclusion = await deploy_chart(installation, deployment, context)
        except UnreadableError as error:
            conclusion = unread(key, SEEDS, unreadable(error))
    return await conclusion.write(installation.manifest)


def _deployment(
    installation: Installation, registration: Answer, referred: Answer | None = None
) -> Deployment | NotAnswered | None:
    """How an installation is deployed, or why that is not known; none: by nobody."""
    holder = registration if referred is None else referred
    if isinstance(holder, NotAnswered):
        return holder
    try:
        return deployment_of(installation, holder.objects[0])
    except UnreadableError as error:
        return unreadable(error)
