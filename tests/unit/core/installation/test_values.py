"""Every value of a chart has an effect, or a reason to have none."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest

from hedgerow.installation.manifests import definitions, manifests
from hedgerow_entrypoints.components import CONTROLLER_MANAGER, RESOURCE_MANAGER, RSYSLOG_RELP, SEED_EXTENSIONS
from tests.golden.installation.chart import CHARTS
from tests.golden.installation.table import APP, ROWS, Row, leaves, stated

ELSEWHERE: Final = {
    "config": "the golden installations are about it",
    "part": "the golden installations are about it",
    "global": "has no effect; that a chart may have a parent is tested with Helm",
    "enabled": "has no effect; that a parent may have it as a condition is tested with Helm",
    "gardener": "has no effect; that Gardener may render the chart is tested with Helm",
}


def place(manifest: Any, path: str) -> Any:
    for name in filter(None, path.split(".")):
        try:
            manifest = manifest[int(name)] if isinstance(manifest, Sequence) else manifest.get(name)
        except IndexError:
            return None
        if manifest is None:
            return None
    return manifest


def found(row: Row, values: Mapping[str, Any]) -> list[Any]:
    """What stands at the place of a row, in each object of its kind; nothing, if the values cannot work."""
    makes_the_choice = any(path.startswith("managedResources") for path in (row.value, *row.beside))
    choice = {} if makes_the_choice else {"managedResources.clusterAdmin": True}
    wanted = CHARTS[RESOURCE_MANAGER].installed(row.config, **stated({**choice, **row.beside, **values}))
    made = (*definitions(wanted), *manifests(wanted, "").value_or(()))
    return [place(each, row.path) for each in made if each["kind"] == row.kind]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.value} {row.kind}")
def test_a_value_has_its_effect(row: Row) -> None:
    before, after = found(row, {}), found(row, {row.value: row.stated})

    if row.effect is None:
        assert (any(before), any(after)) == (True, False)
    else:
        assert (row.effect in before, row.effect in after) == (False, True)


def test_no_label_changes_what_selects_the_pods() -> None:
    labels = {"commonLabels": {"app": "a", "team": "a"}, "podLabels": {"app": "b"}}
    wanted = CHARTS[RESOURCE_MANAGER].installed({}, **stated({**labels, "managedResources.clusterAdmin": True}))
    made = {each["kind"]: each for each in manifests(wanted, "").unwrap()}

    for kind, path in (
        ("Deployment", "spec.selector.matchLabels"),
        ("PodDisruptionBudget", "spec.selector.matchLabels"),
        ("Service", "spec.selector"),
    ):
        assert place(made[kind], path) == {"app": APP}
    assert place(made["Deployment"], "spec.template.metadata.labels")["app"] == APP


@pytest.mark.parametrize("component", [RESOURCE_MANAGER, CONTROLLER_MANAGER, RSYSLOG_RELP, SEED_EXTENSIONS])
def test_no_value_is_without_a_row(component: str) -> None:
    assert {*leaves(CHARTS[component].declared.values_type())} <= {row.value for row in ROWS} | ELSEWHERE.keys()
