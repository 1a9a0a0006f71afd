"""Deploys the chart of one installation: Namespace, access to the garden, and what the chart renders to.

Source: controller-registration §8.4.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from returns.result import Failure as Failed

from hedgerow.api.gardener import HIGH_AVAILABILITY_CONSIDERED, ROLE, ZONES
from hedgerow.api.kubernetes import CONFIG_MAPS, NAMESPACES, namespace_key
from hedgerow.api.references import CLUSTER_IDENTITY, REQUIRED, cluster_id
from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS, POD_SECURITY_ENFORCE, REGISTRATION_NAME, SEEDS
from hedgerow.machinery.charts import RenderChart, RenderedChart, RenderError
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.controller import Context
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, annotations_of, key_of, uid_of
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.questions import Answer, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError, list_at, text_at
from hedgerow.machinery.steps import AtOnce
from hedgerow.registration.chart_values import (
    KUBECONFIG_SECRET,
    Chart,
    chart_values,
    cluster_identity,
    read_chart,
)
from hedgerow.registration.conclusion import Claim, Conclusion, problem, unread
from hedgerow.registration.delivery import deliver, extension_namespace, is_delivered, secret_data
from hedgerow.registration.garden_access import GardenAccess, Injection, give_access, kubeconfig_secret
from hedgerow.registration.installations import Deployment, Installation
from hedgerow.resource_manager.builder import deploying
from hedgerow.version import __version__

_VERSION: Final = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")
GARDEN: Final = "garden"
"""The Namespace of a garden whose uid identifies it."""
_POD_SECURITY: Final = "pod-security.kubernetes.io/enforce"
_VALID: Final = Claim(ConditionStatus.TRUE, "RegistrationValid", "Chart could be rendered successfully.")


@dataclass(frozen=True, slots=True)
class InstallationConfig:
    """What the component configuration says about the controller of installations."""

    seed: str
    """Name of the Seed whose installations it works on."""
    version: str = __version__
    """Of Gardener, as charts see it."""
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    """As charts see them."""
    api_versions: tuple[str, ...] = ()
    """Which `.Capabilities` charts see beside those of the renderer."""
    garden_access: GardenAccess | None = None
    """How the pods of extensions reach the garden; none: not at all."""


def from_garden(resource: Resource, name: str, namespace: str = "") -> ObjectQuestion:
    """The live read of an object in the garden."""
    return ObjectQuestion(resource, ObjectKey(namespace, name), Cluster.SOURCE)


async def deploy_chart(
    installation: Installation, deployment: Deployment, context: Context[InstallationConfig]
) -> Conclusion:
    """Write what an installation needs into the seed; UnreadableError if the Seed has another shape than Gardener's."""
    key = key_of(installation.manifest)
    seed, garden, identity = await AtOnce(
        (
            from_garden(SEEDS, installation.seed),
            from_garden(NAMESPACES, GARDEN),
            from_garden(CONFIG_MAPS, CLUSTER_IDENTITY.name, CLUSTER_IDENTITY.namespace),
        )
    )
    if isinstance(seed, NotAnswered):
        return unread(key, SEEDS, seed.message, is_missing=seed.is_not_found)
    chart = read_chart(deployment.provider_config)
    if isinstance(chart, Failed):
        message = f"Chart Information cannot be unmarshalled: {chart.failure()}"
        invalid = Claim(ConditionStatus.FALSE, "ChartInformationInvalid", message)
        return Conclusion(Failure(CONTROLLER_INSTALLATIONS, key, Problem("", message)), invalid)
    rendering = await _prepare(installation, chart.unwrap(), seed.objects[0], (garden, identity), context)
    return problem(key, rendering) if isinstance(rendering, str) else await _deliver(installation, rendering)


async def _prepare(  # noqa: PLR0911 -- each thing that is missing ends it
    installation: Installation,
    chart: Chart,
    seed: Manifest,
    garden: tuple[Answer, Answer],
    context: Context[InstallationConfig],
) -> RenderChart | str:
    """Write what has to be there before the chart; how to render it, or why that is not known."""
    config, namespace = context.config, extension_namespace(installation.name)
    access = config.garden_access
    if error := await _put_namespace(namespace, installation, seed):
        return error
    if not cluster_identity(seed):
        return f"cluster-identity of seed '{key_of(seed).name}' not set"
    namespace_of_garden, identity = garden
    garden_identity = cluster_id(REQUIRED, identity)
    if isinstance(garden_identity, Failed):
        return str(garden_identity.failure())
    if isinstance(namespace_of_garden, NotAnswered):
        return namespace_of_garden.message
    if access is not None and (error := await give_access(namespace, access)):
        return error
    version = _newest(context.server_versions)
    if not version and not context.looks_once:
        return f"the version of the API server of Seed {installation.seed} is not known yet"
    values = chart_values(
        chart.values,
        seed,
        garden_uid=uid_of(namespace_of_garden.objects[0]) or "",
        garden_identity=garden_identity.unwrap(),
        kubeconfig_secret=key_of(kubeconfig_secret("", access)).name if access else "",
        version=config.version,
        feature_gates=config.feature_gates,
    )
    return RenderChart(chart.archive, installation.registration, namespace, values, version, config.api_versions)


async def _put_namespace(name: str, installation: Installation, seed: Manifest) -> str | None:
    """Write the Namespace of an installation; labels and annotations of others stay."""
    plain = {"apiVersion": NAMESPACES.api_version, "kind": NAMESPACES.kind, "metadata": {"name": name}}
    labels = {
        ROLE: "extension",
        REGISTRATION_NAME: installation.registration,
        HIGH_AVAILABILITY_CONSIDERED: "true",
        _POD_SECURITY: annotations_of(installation.manifest).get(POD_SECURITY_ENFORCE),
    }
    annotations = {ZONES: ",".join(map(str, list_at(seed, "spec", "provider", "zones")))}
    patch = {"metadata": {"labels": labels, "annotations": annotations}}
    return await deploying.write(
        NAMESPACES,
        namespace_key(name),
        lambda existing: apply_merge_patch(existing or plain, patch),
        "extension-namespace",
    )


def _newest(versions: Iterable[str]) -> str:
    """The newest of some versions of API servers, without what vendors add; empty: none is readable."""
    found = [tuple(map(int, match.groups())) for match in map(_VERSION.match, versions) if match]
    return "v{}.{}.{}".format(*max(found)) if found else ""


async def _deliver(installation: Installation, rendering: RenderChart) -> Conclusion:
    """Render the chart and write what comes of it, unless it is proven that this would change nothing."""
    key, name = key_of(installation.manifest), installation.name
    pending = f'Installation of ManagedResource "{name}" is still pending.'
    done = Conclusion(
        valid=_VALID, installed=Claim(ConditionStatus.FALSE, "InstallationPending", pending, only_if_unknown=True)
    )
    if await is_delivered(name, rendering):
        return done
    data = await _data(await rendering, rendering, installation.seed)
    if isinstance(data, RenderError):
        is_of_chart = data.cause == "chart"
        status = ConditionStatus.FALSE if is_of_chart else ConditionStatus.UNKNOWN
        reason = "ChartCannotBeRendered" if is_of_chart else "ChartRendererUnavailable"
        message = f"Chart rendering process failed: {data.message}"
        return problem(key, message, valid=Claim(status, reason, message))
    if error := await deliver(name, rendering, data):
        message = f'Creation of ManagedResource "{name}" failed: {error}'
        installed = Claim(ConditionStatus.FALSE, "InstallationFailed", message)
        return problem(key, message, valid=_VALID, installed=installed)
    return done


async def _data(rendered: RenderedChart, rendering: RenderChart, seed: str) -> Mapping[str, bytes] | RenderError:
    """What the Secret of a rendered chart is to hold, or why there is nothing."""
    if isinstance(rendered, RenderError):
        return rendered
    kubeconfig = text_at(rendering.values, *KUBECONFIG_SECRET)
    injection = Injection(rendering.namespace, kubeconfig, seed) if kubeconfig else None
    try:
        return await secret_data(rendered, injection.into if injection else lambda manifest: manifest)
    except UnreadableError as error:
        return RenderError("chart", str(error))
