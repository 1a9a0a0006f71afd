"""The worlds of the controller that installs charts into a seed."""

from collections.abc import Mapping
from typing import Any, Final

from hypothesis import strategies as st

from hedgerow.api.kubernetes import NAMESPACES, SECRETS
from hedgerow.machinery.charts import RenderChart, RenderedChart, RenderedFile
from hedgerow.registration.chart_deployment import InstallationConfig
from hedgerow.registration.garden_access import GardenAccess
from hedgerow.registration.installing import installation_controller
from tests.unit.core.controllers.registration_worlds import HELD, without_condition_times
from tests.unit.core.controllers.stage import World, in_source, in_target
from tests.unit.core.controllers.worlds import drawn, patch, remove
from tests.unit.core.registration import landscape, objects
from tests.unit.core.registration.objects import KINDS, condition

OTHERS: Final = "example.com/own"


def rendered(step: RenderChart) -> RenderedChart:
    """The objects of a chart that shows its values."""
    values = {"foo": str(step.values.get("foo")), "region": step.values["gardener"]["seed"]["region"]}
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "config"}, "data": values}
    return (RenderedFile("test/templates/config.yaml", (config_map,)),)


GARDEN_NAMESPACE: Final = landscape.of(NAMESPACES, "garden")
ACCESS: Final = GardenAccess("https://garden.example.com")


@st.composite
def installed_charts(draw: st.DrawFn) -> World:
    """An installation that is new, deployed before or on its way out, and one of another seed."""
    finalizers = draw(drawn([HELD, OTHERS]))
    is_going = bool(finalizers) and draw(st.booleans())
    metadata = {"finalizers": finalizers, **({"deletionTimestamp": objects.BEFORE} if is_going else {})}
    by_reference, is_chart = draw(st.booleans()), draw(st.booleans())
    held: Mapping[str, Any] = {"finalizers": draw(drawn([OTHERS]))}
    subject, registered, place, *garden = in_source(
        landscape.installation(by_reference=by_reference, **metadata),
        landscape.registration(None if by_reference else landscape.HELM),
        landscape.seed(),
        landscape.controller_deployment("helm" if is_chart else "operator"),
        *landscape.GARDEN,
        objects.installation("theirs", seed="t"),
    )
    delivered = objects.managed_resource(landscape.INSTALLATION, **held)
    existing = in_target(
        landscape.of(NAMESPACES, landscape.NAMESPACE, metadata={"labels": {"a": "b"}, **held}),
        {**delivered, "spec": {"class": "seed", "secretRefs": [{"name": "before"}]}},
        landscape.of(SECRETS, "before", "garden", data={"a": "Yg=="}),
    )
    *garden, theirs = garden
    changed = {"spec": {"deployment": {"providerConfig": {"values": {"foo": "baz"}}}}}
    return World(
        installation_controller(
            InstallationConfig(landscape.SEED, garden_access=ACCESS if draw(st.booleans()) else None)
        ),
        (subject, registered, place, *garden, *in_target(GARDEN_NAMESPACE), *draw(drawn([*existing]))),
        subject,
        (theirs, *in_target(objects.managed_resource("theirs"), landscape.of(NAMESPACES, "extension-theirs"))),
        {
            "asked to go": lambda stage: stage.delete(subject),
            "other values": patch(registered, changed),
            "not registered": remove(registered),
            "another way of deployment": patch(registered, {"spec": {"deployment": {"type": "operator"}}}),
            "no seed": remove(place),
            "another region": patch(place, {"spec": {"provider": {"region": "elsewhere"}}}),
            "another condition": patch(subject, {"status": {"conditions": [condition("Healthy", "False")]}}, "status"),
        },
        KINDS,
        frozenset({"uninstalled"}),
        without_condition_times,
        rendered,
    )
