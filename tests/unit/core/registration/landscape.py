"""A garden and a seed with one ControllerInstallation, in which others do what a test says."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final

from hedgerow.api.kubernetes import CONFIG_MAPS, NAMESPACES, SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.registrations import (
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    SEEDS,
)
from hedgerow.machinery.charts import RenderChart, RenderedChart, RenderedFile
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import Plan
from hedgerow.registration.chart_deployment import InstallationConfig
from hedgerow.registration.installing import installation_controller
from hedgerow_adapters.memory import Answered, Fault
from hedgerow_adapters.protocol.transport import Request, Response
from tests.unit.core.controllers.stage import Placed, Stage, World, in_source, in_target
from tests.unit.core.registration.objects import KINDS

SEED: Final = "aws-eu1"
REGISTRATION: Final = "os-coreos"
INSTALLATION: Final = "os-coreos-abcde"
NAMESPACE: Final = f"extension-{INSTALLATION}"
KEY: Final = ObjectKey("", INSTALLATION)
MANAGED_RESOURCE: Final = ObjectKey("garden", INSTALLATION)
FINALIZER: Final = "core.gardener.cloud/controllerinstallation"
CHART: Final = b64encode(b"a chart").decode()
HELM: Final[Manifest] = {"type": "helm", "providerConfig": {"chart": CHART, "values": {"foo": "bar"}}}
CONFIG_MAP: Final[Manifest] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "config", "namespace": NAMESPACE},
    "data": {"foo": "bar"},
}
FILES: Final = (RenderedFile("test/templates/config.yaml", (CONFIG_MAP,)),)


def of(resource: Resource, name: str, namespace: str = "", **fields: Any) -> dict[str, Any]:
    """An object; `metadata` adds to what tells it apart."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **fields.pop("metadata", {})}
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **fields}


def seed(**spec: Any) -> dict[str, Any]:
    given = {"provider": {"type": "aws", "region": "eu-west-1", "zones": ["a", "b", "c"]}, "dns": {}, **spec}
    return of(SEEDS, SEED, spec=given, status={"clusterIdentity": f"{SEED}-id"})


def registration(deployment: Manifest | None = HELM) -> dict[str, Any]:
    return of(CONTROLLER_REGISTRATIONS, REGISTRATION, spec={"deployment": deployment} if deployment else {})


def controller_deployment(type_: str = "helm") -> dict[str, Any]:
    return of(CONTROLLER_DEPLOYMENTS, "coreos", **{**HELM, "type": type_})


def installation(*, by_reference: bool = False, **metadata: Any) -> dict[str, Any]:
    spec = {
        "registrationRef": {"name": REGISTRATION, "resourceVersion": "1"},
        "seedRef": {"name": SEED, "resourceVersion": "1"},
        **({"deploymentRef": {"name": "coreos", "resourceVersion": "1"}} if by_reference else {}),
    }
    return of(CONTROLLER_INSTALLATIONS, INSTALLATION, spec=spec, metadata=metadata)


GARDEN: Final = (
    of(NAMESPACES, "garden"),
    of(CONFIG_MAPS, "cluster-identity", "kube-system", data={"cluster-identity": "garden-id"}),
)


class Renderer:
    """Renders every chart to the same files, and notes what it was asked for."""

    def __init__(self, rendered: RenderedChart = FILES) -> None:
        self.rendered = rendered
        self.asked: list[RenderChart] = []

    def __call__(self, step: RenderChart) -> RenderedChart:
        self.asked.append(step)
        return self.rendered


class Landscape:
    """Both clusters, and the controller at work in them."""

    def __init__(
        self,
        *garden: Manifest,
        seed: Sequence[Manifest] = (),
        rendered: RenderedChart = FILES,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        self.render = Renderer(rendered)
        objects: tuple[Placed, ...] = (
            *in_source(*GARDEN, *garden),
            *in_target(of(NAMESPACES, "garden"), *seed),
        )
        controller = installation_controller(InstallationConfig(**{"seed": SEED, **(config or {})}))
        subject = next(each for each in objects if each[1]["kind"] == "ControllerInstallation")
        self.stage = Stage(World(controller, objects, subject, kinds=KINDS, render=self.render))

    def turn(self) -> Plan:
        self.stage.turn(KEY)
        return self.stage.turns[-1].plan

    @property
    def writes(self) -> list[str]:
        """Of the last turn: verb, kind and name of each."""
        return [
            f"{type(result.action).__name__} {result.action.resource.kind} {result.action.key.name}"
            for result in self.stage.turns[-1].results
        ]

    def found(self, resource: Resource, name: str, namespace: str = "") -> Any:
        """The object in the seed; none if it does not exist."""
        return self.stage.clusters[Cluster.TARGET].get(resource, ObjectKey(namespace, name))

    def in_garden(self, resource: Resource, name: str) -> Any:
        """The object in the garden; none if it does not exist."""
        return self.stage.clusters[Cluster.SOURCE].get(resource, ObjectKey("", name))

    @property
    def installation(self) -> Any:
        return self.in_garden(CONTROLLER_INSTALLATIONS, INSTALLATION)

    @property
    def managed_resource(self) -> Any:
        return self.found(MANAGED_RESOURCES, INSTALLATION, "garden")

    @property
    def secret(self) -> Any:
        """The Secret that the ManagedResource refers to."""
        (reference,) = self.managed_resource["spec"]["secretRefs"]
        return self.found(SECRETS, reference["name"], "garden")

    @property
    def conditions(self) -> dict[str, tuple[str, str]]:
        """Status and reason by type."""
        found = self.installation.get("status", {}).get("conditions", ())
        return {each["type"]: (each["status"], each["reason"]) for each in found}

    def message(self, condition_type: str) -> str:
        conditions = self.installation["status"]["conditions"]
        return str(next(each["message"] for each in conditions if each["type"] == condition_type))

    def patch(self, cluster: Cluster, manifest: Manifest, patch: Manifest, subresource: str = "") -> None:
        self.stage.patch((cluster, manifest), patch, subresource)

    def ask_for_deletion(self) -> None:
        """Somebody deletes the installation, which stays while it has finalizers."""
        self.stage.delete(self.stage.world.subject)

    def remove(self, resource: Resource, name: str, namespace: str = "", cluster: Cluster = Cluster.TARGET) -> None:
        """Somebody removes an object for good, by default from the seed."""
        self.stage.remove((cluster, of(resource, name, namespace)))

    def fail(
        self, cluster: Cluster, method: str, path: str, code: int = 500, *, after: int = 0, times: int | None = None
    ) -> None:
        """The next requests to paths that hold a text fail, `after` some that do not."""
        details = {"name": path.rpartition("/")[2]}
        body = {"kind": "Status", "status": "Failure", "reason": REASONS[code], "message": "a fault", "code": code}
        answered, picked = Answered(Response(code, {**body, "details": details})), count()

        def picks(request: Request) -> bool:
            return method in {"", request.method} and path in request.path and next(picked) >= after

        self.stage.clusters[cluster].faults.append(Fault(picks, answered, times=times))


REASONS: Final = {404: "NotFound", 409: "Conflict", 413: "RequestEntityTooLarge", 500: "InternalError"}
