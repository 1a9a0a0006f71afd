"""The worlds of the controllers that register extensions."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Final

from hypothesis import strategies as st

from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.api.registrations import EXTENSION_KINDS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import with_value
from hedgerow.registration.care import care_controller
from hedgerow.registration.conditions import CheckConfig
from hedgerow.registration.finalizers import PROTECTIONS, Protection, finalizer_controller
from hedgerow.registration.planning import PlanningConfig
from hedgerow.registration.required import required_controller
from hedgerow.registration.seed_check import seed_check_controller
from hedgerow.registration.seed_controller import seed_controller
from hedgerow.registration.shoot_extensions import FINALIZER as SHOOT_HELD
from hedgerow.registration.shoot_extensions import shoot_extensions_controller
from tests.unit.core.controllers.stage import World, in_source, in_target
from tests.unit.core.controllers.worlds import drawn, patch, put, remove
from tests.unit.core.registration import garden, objects
from tests.unit.core.registration.objects import KINDS, condition

HELD: Final = "core.gardener.cloud/controllerinstallation"
AFTER: Final = "2030-01-01T00:00:00Z"
"""Long after whatever controllers ask for."""
STATUSES: Final = st.sampled_from(["True", "False", "Unknown", "Progressing"])


@st.composite
def judged_installations(draw: st.DrawFn) -> World:
    """An installation, perhaps judged before, its ManagedResource in any state, and an installation of another seed."""
    told = [condition(type_, draw(STATUSES)) for type_ in draw(drawn(["Valid", "Installed", "Healthy", "Required"]))]
    metadata: Mapping[str, Any] = {"finalizers": draw(drawn([HELD]))}
    if metadata["finalizers"] and draw(st.booleans()):
        metadata = {**metadata, "deletionTimestamp": objects.BEFORE}
    installation = objects.installation(conditions=tuple(told), **metadata)
    kind = draw(st.sampled_from(["helm", "operator"]))
    garden = [objects.registration(), *draw(drawn([objects.deployment(type_=kind)]))]
    aspects = draw(drawn(["ResourcesApplied", "ResourcesHealthy", "ResourcesProgressing"]))
    managed_resource = objects.managed_resource("i", *(condition(type_, draw(STATUSES)) for type_ in aspects))
    (subject,), (delivered,) = in_source(installation), in_target(managed_resource)
    other = condition("ResourcesHealthy", "False", "other")
    return World(
        care_controller(CheckConfig("s")),
        (*in_source(installation, *garden), *draw(drawn([delivered]))),
        subject,
        (*in_source(objects.installation("theirs", seed="t")), *in_target(objects.managed_resource("theirs"))),
        {
            "another condition": patch(subject, {"status": {"conditions": [condition("Valid", "False")]}}, "status"),
            "applied": put(delivered),
            "unwell": patch(delivered, {"status": {"conditions": [other]}}, "status"),
            "not delivered": remove(delivered),
            "another way of deployment": put(*in_source(objects.deployment(type_="operator"))),
        },
        KINDS,
        without_secrets=without_condition_times,
    )


@st.composite
def judged_seeds(draw: st.DrawFn) -> World:
    """A Seed, perhaps judged before, its installations in any state, and installations of another Seed."""
    types = ["Valid", "Installed", "Healthy", "Progressing"]
    installations = [
        objects.installation(
            name,
            deployment=draw(st.sampled_from(["d", "o"])),
            conditions=tuple(condition(type_, draw(STATUSES)) for type_ in draw(drawn(types))),
        )
        for name in ("i", "j")
    ]
    before = [condition(type_, draw(STATUSES)) for type_ in draw(drawn(["ExtensionsReady", "Bootstrapped"]))]
    seed = {**objects.seed(), **({"status": {"conditions": before}} if before else {})}
    others = (objects.registration(), objects.deployment(), objects.deployment("o", "operator"))
    subject, first, _ = in_source(seed, *installations)
    return World(
        seed_check_controller(CheckConfig("s", threshold=draw(st.sampled_from([timedelta(0), timedelta(minutes=1)])))),
        in_source(seed, *installations, *others),
        subject,
        in_source(objects.seed("t"), objects.installation("theirs", seed="t")),
        {
            "another condition": patch(subject, {"status": {"conditions": [condition("Other", "True")]}}, "status"),
            "unwell": patch(first, {"status": {"conditions": [condition("Healthy", "False")]}}, "status"),
            "uninstalled": remove(first),
        },
        KINDS,
        without_secrets=without_condition_times,
    )


def without_versions(manifest: Manifest) -> Manifest:
    """An installation whose references do not say which version they are made for."""
    if manifest["kind"] != "ControllerInstallation":
        return manifest
    spec = {
        name: {part: text for part, text in reference.items() if part != "resourceVersion"}
        for name, reference in manifest["spec"].items()
    }
    return {**manifest, "spec": spec}


@st.composite
def seeds(draw: st.DrawFn) -> World:
    """A Seed that needs extensions or not, with some of its installations; and one of a Seed that is not there."""
    return seed_world(
        {name: draw(STATUSES) for name in draw(drawn(["foo", "foo2", "worker", "always"]))},
        policy=draw(st.sampled_from(["OnDemand", "AlwaysExceptNoShoots"])),
        provider=draw(st.sampled_from(["x", "y"])),
        environment=draw(st.sampled_from(["prod", "dev"])),
        has_shoot=draw(st.booleans()),
    )


def seed_world(
    required: Mapping[str, str],
    *,
    policy: str = "OnDemand",
    provider: str = "x",
    environment: str = "prod",
    has_shoot: bool = True,
) -> World:
    """A Seed with installations that another program has named, each with the status of `Required`."""
    foo, workers = garden.resource("Extension", "foo"), garden.resource("Worker", "x")
    registrations = [
        objects.registration("foo", foo, deploymentRefs=[{"name": "d"}]),
        objects.registration("worker", workers, policy=policy),
        objects.registration("always", policy="Always", seedSelector={"matchLabels": {"env": "prod"}}),
    ]
    installations = [
        objects.installation(name, registration=name.rstrip("2"), conditions=(condition("Required", status),))
        for name, status in sorted(required.items())  # of two of an age the first by name counts as older: it is older
    ]
    seed = objects.seed(spec={"provider": {"type": provider}})
    seed["metadata"]["labels"] = {"env": environment}
    shoot, late = (garden.shoot(name, namespace="default", extensions=[{"type": "foo"}]) for name in ("x", "late"))
    (subject, *_), (placed,) = in_source(seed, *registrations), in_source(shoot)
    shoots = [shoot] if has_shoot else []
    return World(
        seed_controller(PlanningConfig()),
        in_source(seed, *registrations, objects.deployment(), *shoots, *installations),
        subject,
        in_source(objects.installation("theirs", registration="foo", seed="t")),
        {
            "another Shoot": put(*in_source(late)),
            "no Shoot": remove(placed),
            "another label": patch(subject, {"metadata": {"labels": {"env": "test"}}}),
            "no deployment": remove(*in_source(objects.deployment())),
            "another policy": patch((Cluster.SOURCE, registrations[0]), {"spec": {"deployment": {"policy": "Always"}}}),
        },
        KINDS,
        without_secrets=without_versions,
    )


@st.composite
def protected(draw: st.DrawFn, protection: Protection) -> World:
    """An object that others depend on or not, and that is to go or not; and one of the same kind that stays."""
    made: Mapping[str, Callable[..., dict[str, Any]]] = {
        "Seed": objects.seed,
        "ControllerRegistration": objects.registration,
        "ControllerDeployment": objects.deployment,
    }
    mine, theirs = (made[protection.resource.kind](name) for name in ("mine", "theirs"))
    theirs["metadata"]["finalizers"] = [protection.finalizer]
    finalizers = draw(drawn([protection.finalizer, "example.com/own"]))
    mine["metadata"]["finalizers"] = finalizers
    if draw(st.booleans()) and finalizers:
        mine["metadata"]["deletionTimestamp"] = objects.BEFORE
    is_deployment = protection.resource.kind == "ControllerDeployment"
    dependant, other = (
        objects.registration(f"of-{name}", deploymentRefs=[{"name": name}])
        if is_deployment
        else objects.installation(f"of-{name}", registration=name, seed=name)
        for name in ("mine", "theirs")
    )
    (subject,), (depends,) = in_source(mine), in_source(dependant)
    return World(
        finalizer_controller(protection),
        in_source(mine, *draw(drawn([dependant])), other),
        subject,
        in_source(theirs),
        {
            "another finalizer": patch(
                subject, {"metadata": {"finalizers": [protection.finalizer, "example.com/new"]}}
            ),
            "needed": put(depends),
            "not needed": remove(depends),
        },
        KINDS,
    )


@st.composite
def required_installations(draw: st.DrawFn) -> World:
    """An installation, perhaps judged before, some of the objects that it may be for; and one of another seed."""
    told = tuple(condition(type_, draw(STATUSES)) for type_ in draw(drawn(["Valid", "Required"])))
    served = objects.registration("r", garden.resource("Worker", "x"), garden.resource("Network", "x"))
    worker, network, other = (
        objects.made(EXTENSION_KINDS[kind], {"name": type_, "namespace": "default"}, spec={"type": type_})
        for kind, type_ in (("Worker", "x"), ("Network", "x"), ("Network", "y"))
    )
    (subject,) = in_source(objects.installation(conditions=told))
    return World(
        required_controller(CheckConfig("s")),
        (*in_source(subject[1], served), *in_target(*draw(drawn([worker, network, other])))),
        subject,
        in_source(objects.installation("theirs", seed="t")),
        {
            "another condition": patch(subject, {"status": {"conditions": [condition("Valid", "False")]}}, "status"),
            "a Worker": put(*in_target(worker)),
            "no Network": remove(*in_target(network)),
            "another registration": put(*in_source(objects.registration("r", garden.resource("Network", "y")))),
        },
        KINDS,
        without_secrets=without_condition_times,
    )


TYPES: Final = ("early", "late", "other")


@st.composite
def shoots_with_extensions(draw: st.DrawFn) -> World:
    """A Shoot in any state, Extensions of an earlier one, and the Extension of another Shoot."""
    listed = tuple({"type": type_, "disabled": draw(st.booleans())} for type_ in draw(drawn(TYPES)))
    metadata: Mapping[str, Any] = {"finalizers": draw(drawn([SHOOT_HELD, "example.com/own"]))}
    if metadata["finalizers"] and draw(st.booleans()):
        metadata = {**metadata, "deletionTimestamp": objects.BEFORE}
    hibernation = draw(st.sampled_from([None, {"enabled": True}]))
    shoot = objects.shoot(extensions=listed, hibernation=hibernation, **metadata)
    early = {"kind": "Extension", "type": "early", "lifecycle": {"reconcile": "BeforeKubeAPIServer"}}
    late = {"kind": "Extension", "type": "late", "globallyEnabled": draw(st.booleans())}
    registration = objects.registration("r", early, late)
    labels = {f"extensions.gardener.cloud/{type_}": "true" for type_ in draw(drawn(TYPES))}
    namespace = objects.made(NAMESPACES, {"name": objects.SHOOT_NAMESPACE, "labels": labels})
    existing = [objects.extension(type_) for type_ in draw(drawn(TYPES))]
    up, down = objects.kube_apiserver(), objects.kube_apiserver(replicas=0)
    theirs = objects.extension("early")
    theirs["metadata"]["namespace"] = "shoot--a--theirs"
    subject, other = in_source(shoot, objects.registration("other", {"kind": "Extension", "type": "other"}))
    (served,) = in_target(objects.extension("early"))
    status = {"lastOperation": {"type": "Reconcile", "state": "Succeeded", "lastUpdateTime": AFTER}}
    return World(
        shoot_extensions_controller("s"),
        (*in_source(shoot, registration), *in_target(namespace, *existing, *draw(drawn([up, down]))[:1])),
        subject,
        in_target(theirs),
        {
            "another type": put(other),
            "no type": remove(in_source(registration)[0]),
            "hibernated": patch(subject, {"spec": {"hibernation": {"enabled": True}}}),
            "up": put(*in_target(up)),
            "down": put(*in_target(down)),
            "reconciled": patch(served, {"status": {**status, "observedGeneration": 1}}, "status"),
            "deleted by somebody": remove(served),
        },
        KINDS,
        without_secrets=without_requests,
    )


def without_requests(manifest: Manifest) -> Manifest:
    """An Extension that does not say when something was asked of it."""
    annotations = manifest["metadata"].get("annotations") or {}
    if "gardener.cloud/timestamp" not in annotations:
        return manifest
    return with_value(manifest, ("metadata", "annotations", "gardener.cloud/timestamp"), "then")


def without_condition_times(manifest: Manifest) -> Manifest:
    """An object whose conditions do not say since when they are so."""
    conditions = (manifest.get("status") or {}).get("conditions")
    if not conditions:
        return manifest
    untimed = [{name: text for name, text in each.items() if not name.endswith("Time")} for each in conditions]
    return {**manifest, "status": {**manifest["status"], "conditions": untimed}}


REGISTRATION_WORLDS: Final[Mapping[str, Callable[[], st.SearchStrategy[World]]]] = {
    "controllerregistration-seed": seeds,
    **{each.controller: partial(protected, protection=each) for each in PROTECTIONS},
    "controllerinstallation-required": required_installations,
    "controllerinstallation-care": judged_installations,
    "seed-extensions-check": judged_seeds,
    "shoot-extensions": shoots_with_extensions,
}
