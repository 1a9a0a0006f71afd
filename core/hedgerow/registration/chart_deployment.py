"""Deploys the chart of one installation: Namespace, access to the garden, and what the chart renders to.

That gets into the seed as a Secret, and as the ManagedResource that has its objects applied. An annotation of the
ManagedResource proves what its Secret was rendered from, so that nothing is rendered anew as long as that stays, not
even by another process.

Source: controller-registration §8.4, §8.8, §8.9.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from returns.result import Failure as Failed
from returns.result import Success

from hedgerow.api.gardener import HIGH_AVAILABILITY_CONSIDERED, ROLE, ZONES
from hedgerow.api.kubernetes import CONFIG_MAPS, NAMESPACES, SECRETS, namespace_key
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.references import CLUSTER_IDENTITY, REQUIRED, cluster_id, secret_names
from hedgerow.api.registrations import (
    INSTALLATION_NAME,
    INSTALLED,
    POD_SECURITY_ENFORCE,
    REGISTRATION_NAME,
    RENDERING,
    SEED_NAMESPACE,
    SEEDS,
    VALID,
)
from hedgerow.machinery.charts import RenderChart, RenderedChart, RenderError
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.controller import Context
from hedgerow.machinery.documents.yaml_texts import sorted_yaml
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, annotations_of, key_of, uid_of
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.questions import Answer, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError, list_at, text_at, with_value
from hedgerow.machinery.steps import AtOnce, Pause
from hedgerow.registration.chart_values import KUBECONFIG_SECRET, Chart, chart_values, cluster_identity, read_chart
from hedgerow.registration.conclusion import PENDING, Conclusion, unread
from hedgerow.registration.garden_access import GardenAccess, Injection, give_access, kubeconfig_secret
from hedgerow.registration.installations import Deployment, Installation
from hedgerow.resource_manager.builder import deploying
from hedgerow.resource_manager.builder.managed_resource import desired_managed_resource, new_managed_resource
from hedgerow.resource_manager.builder.secret import make_unique, new_secret
from hedgerow.version import __version__

_VERSION: Final = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")
GARDEN: Final = "garden"
"""The Namespace of a garden whose uid identifies it."""
_POD_SECURITY: Final = "pod-security.kubernetes.io/enforce"
_VALID: Final = (ConditionStatus.TRUE, "RegistrationValid", "Chart could be rendered successfully.")
_SEPARATOR: Final = "\n---\n"
_WRITTEN_AT_ONCE: Final = 64 * 1024  # characters, in some 50 ms


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


def extension_namespace(installation: str) -> str:
    """The name of the Namespace of an installation in its seed."""
    return f"extension-{installation}"


def managed_resource_key(installation: str) -> ObjectKey:
    """Of the ManagedResource of an installation."""
    return ObjectKey(SEED_NAMESPACE, installation)


def from_garden(resource: Resource, name: str, namespace: str = "") -> ObjectQuestion:
    """The live read of an object in the garden."""
    return ObjectQuestion(resource, ObjectKey(namespace, name), Cluster.SOURCE)


async def deploy_chart(
    installation: Installation, deployment: Deployment, context: Context[InstallationConfig]
) -> Conclusion:
    """Write what an installation needs into the seed; UnreadableError if the Seed has another shape than Gardener's."""
    seed, garden, identity = await AtOnce(
        (
            from_garden(SEEDS, installation.seed),
            from_garden(NAMESPACES, GARDEN),
            from_garden(CONFIG_MAPS, CLUSTER_IDENTITY.name, CLUSTER_IDENTITY.namespace),
        )
    )
    if isinstance(seed, NotAnswered):
        return unread(SEEDS, seed)
    chart = read_chart(deployment.provider_config)
    if isinstance(chart, Failed):
        message = f"Chart Information cannot be unmarshalled: {chart.failure()}"
        invalid = (ConditionStatus.FALSE, "ChartInformationInvalid", message)
        return Conclusion(message, {VALID: invalid}, retryable=False)
    rendering = await _prepare(installation, chart.unwrap(), seed.objects[0], (garden, identity), context)
    return Conclusion(rendering) if isinstance(rendering, str) else await _deliver(installation, rendering)


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
        return f"Seed {key_of(seed).name}: status.clusterIdentity is not set"
    namespace_of_garden, identity = garden
    garden_identity = cluster_id(REQUIRED, identity)
    if isinstance(garden_identity, Failed):
        return str(garden_identity.failure())
    if isinstance(namespace_of_garden, NotAnswered):
        return namespace_of_garden.message
    if access is not None and (error := await give_access(namespace, access)):
        return error
    version = _newest(context.server_versions)
    if not version:
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
    name = installation.name
    pending = f'Installation of ManagedResource "{name}" is still pending.'
    done = Conclusion(conditions={VALID: _VALID, INSTALLED: (ConditionStatus.FALSE, PENDING, pending)})
    if await _is_delivered(name, rendering):
        return done
    data = await _data(await rendering, rendering, installation.seed)
    if isinstance(data, RenderError):
        is_of_chart = data.cause == "chart"
        status = ConditionStatus.FALSE if is_of_chart else ConditionStatus.UNKNOWN
        reason = "ChartCannotBeRendered" if is_of_chart else "ChartRendererUnavailable"
        message = f"Chart rendering process failed: {data.message}"
        return Conclusion(message, {VALID: (status, reason, message)})
    secret = new_secret(SEED_NAMESPACE, name, data, with_prefix=False)
    managed_resource = _new_managed_resource(name, key_of(secret).name, rendering)
    if error := await deploying.deploy(secret, managed_resource, "installed"):
        message = f'Creation of ManagedResource "{name}" failed: {error}'
        return Conclusion(message, {VALID: _VALID, INSTALLED: (ConditionStatus.FALSE, "InstallationFailed", message)})
    return done


async def _is_delivered(installation: str, rendering: RenderChart) -> bool:
    """True if it is proven that a rendering would change nothing in the seed."""
    existing = await deploying.look(MANAGED_RESOURCES, managed_resource_key(installation))
    if existing is None or isinstance(existing, NotAnswered):
        return False
    try:
        name = next(iter(secret_names(existing)), "")
        if desired_managed_resource(existing, _new_managed_resource(installation, name, rendering)) != Success(
            existing
        ):
            return False
    except UnreadableError:
        return False
    secret = await deploying.look(SECRETS, ObjectKey(SEED_NAMESPACE, name))
    if secret is None or isinstance(secret, NotAnswered):
        return False
    # An immutable Secret keeps its data, but may have been deleted and made anew with other data.
    return make_unique(with_value(secret, ("metadata", "name"), installation)) == Success(secret)


def _new_managed_resource(installation: str, secret: str, rendering: RenderChart) -> Manifest:
    """The ManagedResource of an installation, whose objects a Secret has."""
    managed_resource = new_managed_resource(
        SEED_NAMESPACE,
        installation,
        secret_names=[secret],
        labels={INSTALLATION_NAME: installation},
        **{"class": "seed"},
    )
    proof = blake2b(f"{__version__} {rendering.digest} {secret}".encode(), digest_size=16).hexdigest()
    return with_value(managed_resource, ("metadata", "annotations"), {RENDERING: proof})


async def _data(rendered: RenderedChart, rendering: RenderChart, seed: str) -> Mapping[str, bytes] | RenderError:
    """The objects of a chart as the data of a Secret, by the path of their template; or why there are none."""
    if isinstance(rendered, RenderError):
        return rendered
    kubeconfig = text_at(rendering.values, *KUBECONFIG_SECRET)
    injection = Injection(rendering.namespace, kubeconfig, seed) if kubeconfig else None
    texts: dict[str, str] = {}
    written = 0
    for file in rendered:
        objects = []
        for manifest in file.objects:
            try:
                objects.append(sorted_yaml(injection.into(manifest) if injection else manifest))
            except UnreadableError as error:
                return RenderError("chart", f"{file.path}: {error}")
            written += len(objects[-1])
            if written > _WRITTEN_AT_ONCE:
                await Pause()
                written = 0
        if objects:
            name = file.path.replace("/", "_")
            # Two paths may be one name.
            texts[name] = texts.get(name, "") + _SEPARATOR + _SEPARATOR.join(objects) + _SEPARATOR
    return {name: text.encode() for name, text in texts.items()}
