"""The worlds of the controllers that register extensions."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from hypothesis import strategies as st

from hedgerow.machinery.objects import Manifest
from hedgerow.registration.care import CareConfig, care_controller
from hedgerow.registration.seed_check import SeedCheckConfig, seed_check_controller
from tests.unit.core.controllers.stage import World, in_source, in_target
from tests.unit.core.controllers.worlds import drawn, patch, put, remove
from tests.unit.core.registration import objects
from tests.unit.core.registration.objects import KINDS, condition

HELD: Final = "core.gardener.cloud/controllerinstallation"
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
        care_controller(CareConfig("s")),
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
        seed_check_controller(SeedCheckConfig("s", draw(st.sampled_from([timedelta(0), timedelta(minutes=1)])))),
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


def without_condition_times(manifest: Manifest) -> Manifest:
    """An object whose conditions do not say since when they are so."""
    conditions = (manifest.get("status") or {}).get("conditions")
    if not conditions:
        return manifest
    untimed = [{name: text for name, text in each.items() if not name.endswith("Time")} for each in conditions]
    return {**manifest, "status": {**manifest["status"], "conditions": untimed}}


REGISTRATION_WORLDS: Final = {
    "controllerinstallation-care": judged_installations,
    "seed-extensions-check": judged_seeds,
}
