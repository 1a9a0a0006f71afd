"""Every command builds the controllers that one configuration describes."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from hedgerow.installation.values import default_values
from hedgerow.machinery.configuration.reading import Decoded
from hedgerow.machinery.configuration.section import Purpose
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.questions import Answer, Question
from hedgerow.resource_manager.configuration import (
    API_VERSION,
    KIND,
    ResourceManagerConfiguration,
    decode,
)
from hedgerow.resource_manager.configuration.controllers import Controllers
from hedgerow.resource_manager.installation import Values
from hedgerow_adapters.simulation import planning
from hedgerow_entrypoints.cli import install, plan, simulate
from hedgerow_entrypoints.cli.controllers import ask_files, chosen_controllers, offline_settings
from hedgerow_entrypoints.components import running
from hedgerow_entrypoints.components.registry import ControllerEntry
from hedgerow_entrypoints.components.resource_manager import COMPONENT
from hedgerow_entrypoints.configuration import Stated
from tests.golden.installation.chart import CHARTS
from tests.unit.entrypoints.command_line import CART, NAMESPACE, Hedgerow

SHARED = {"clusterID", "resourceClass"}
"""Fields of `controllers` that are no section of a controller."""
COMPARED = ("name", "primary", "primary_cluster", "concurrency", "config", "permissions", "periodic", "yields_to")
SECTIONS: Mapping[str, Mapping[str, Any]] = {
    "garbageCollector": {"enabled": True, "syncPeriod": "12h"},
    "health": {"concurrentSyncs": 6, "syncPeriod": "7m"},
    "kubeletCSRApprover": {
        "enabled": True,
        "concurrentSyncs": 9,
        "machineNamespace": "garden",
        "serviceNetworks": ["100.64.0.0/13"],
    },
    "managedResource": {
        "concurrentSyncs": 7,
        "syncPeriod": "20s",
        "alwaysUpdate": True,
        "managedByLabelValue": "somebody",
    },
    "networkPolicy": {
        "enabled": True,
        "concurrentSyncs": 13,
        "namespaceSelectors": [{"matchLabels": {"team": "a"}}],
        "ingressControllerSelector": {"namespace": "ingress", "podSelector": {"matchLabels": {"app": "nginx"}}},
    },
    "node": {"enabled": True, "concurrentSyncs": 10, "backoff": "3s"},
    "secret": {"concurrentSyncs": 8},
    "tokenInvalidator": {"enabled": True, "concurrentSyncs": 11},
    "tokenRequestor": {
        "enabled": True,
        "concurrentSyncs": 12,
        "class": "shoot",
        "audiences": ["gardener"],
        "targetNamespace": "kube-system",
        "sourceNamespaces": ["garden"],
    },
}
"""Every setting of every controller, none at its default."""
NAMES = [entry.name for entry in COMPONENT.controllers]
Declaration = Mapping[str, Any]
Entry = ControllerEntry[ResourceManagerConfiguration]


def document(**controllers: Any) -> dict[str, Any]:
    invalidates = controllers.get("tokenInvalidator", {}).get("enabled", False)
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "leaderElection": {"leaderElect": False},
        "sourceClientConnection": {"namespaces": ["garden"]},
        "targetClientConnection": {"namespaces": ["kube-system"]},
        "controllers": controllers,
        "webhooks": {"tokenInvalidator": {"enabled": invalidates}},
    }


EVERYTHING = document(clusterID="garden-1", resourceClass="seed", **SECTIONS)


def declarations(controllers: Iterable[Controller[Any]]) -> dict[str, Declaration]:
    return {each.name: {field: getattr(each, field) for field in COMPARED} for each in controllers}


def without_cluster_id(declared: Mapping[str, Declaration]) -> dict[str, Declaration]:
    return {name: {**each, "config": _without_cluster_id(each["config"])} for name, each in declared.items()}


def _without_cluster_id(config: Any) -> Any:
    is_told = is_dataclass(config) and any(field.name == "cluster_id" for field in fields(config))
    return replace(config, cluster_id="") if is_told and not isinstance(config, type) else config


@pytest.fixture
def config_file(folder: Path) -> str:
    (folder / "config.yaml").write_text(json.dumps(EVERYTHING))
    return "config.yaml"


@pytest.fixture
def run(hedgerow: Hedgerow, monkeypatch: pytest.MonkeyPatch, config_file: str) -> dict[str, Declaration]:
    """What `hedgerow run` declares; the process itself stays away."""
    built: list[Controller[Any]] = []

    class OnlyDeclares:
        def __init__(self, _component: str, _configuration: object, declare: Callable[[str], Any], *_: object) -> None:
            built.extend(declare("garden-1"))

        async def run(self) -> None:
            """Nothing is to run."""

    monkeypatch.setattr(running, "Process", OnlyDeclares)
    monkeypatch.setattr(running, "leave_out_what_exists", lambda: None)
    hedgerow("run", "resource-manager", "--config", config_file)
    return declarations(built)


def test_plan_and_simulate_build_what_run_builds(
    hedgerow: Hedgerow, monkeypatch: pytest.MonkeyPatch, config_file: str, run: Mapping[str, Declaration]
) -> None:
    planned: list[Controller[Any]] = []
    settled: list[Controller[Any]] = []

    really_planned_in = plan.planned_in

    def planned_in(work: Iterable[Any], now: Any, charts: Any) -> Any:
        pairs = list(work)
        planned.extend(chosen.controller for chosen, _ in pairs)
        return really_planned_in(pairs, now, charts)

    def settle(cluster: Any, controllers: Any, **options: Any) -> Any:
        settled.extend(controllers)
        return planning.settle(cluster, controllers, **options)

    monkeypatch.setattr(plan, "planned_in", planned_in)
    monkeypatch.setattr(simulate, "settle", settle)
    for command in ("plan", "simulate"):
        hedgerow(command, *NAMES, "-f", "-", "--config", config_file, stdin=NAMESPACE + CART)

    assert len(run) == len(COMPONENT.controllers)
    assert declarations(planned) == run
    assert declarations(settled) == run


def test_plan_builds_for_a_live_cluster_what_run_builds(config_file: str, run: Mapping[str, Declaration]) -> None:
    def ask(question: Question) -> Answer:
        pytest.fail(f"the configuration leaves nothing to ask, but {question} is asked")

    chosen = chosen_controllers(NAMES, offline_settings(config_file), ask)

    assert declarations(each.controller for each in chosen) == run


def test_replay_builds_what_run_builds(run: Mapping[str, Declaration]) -> None:
    configuration = decode(EVERYTHING, Purpose.OFFLINE).unwrap().configuration

    assert declarations(COMPONENT.visible(configuration, "garden-1")) == run


def test_roles_are_for_what_run_builds(run: Mapping[str, Declaration]) -> None:
    values = Values.model_validate({**default_values(Values), "config": EVERYTHING})

    installed = install.installation(COMPONENT, values, "garden")

    assert declarations(installed.controllers) == without_cluster_id(run)


def test_what_is_compared_has_no_setting_of_a_controller_at_its_default() -> None:
    told, defaults = decode(EVERYTHING).unwrap().configuration.controllers, Controllers()

    for section in (field.name for field in fields(Controllers)):
        mine, default = getattr(told, section), getattr(defaults, section)
        settings = [field.name for field in fields(default)] if is_dataclass(default) else []
        assert mine != default
        assert [name for name in settings if getattr(mine, name) == getattr(default, name)] == []


def test_without_a_configuration_file_everything_is_as_in_an_empty_one() -> None:
    empty = decode({"apiVersion": API_VERSION, "kind": KIND}, Purpose.OFFLINE).unwrap().configuration

    assert empty == ResourceManagerConfiguration()


@pytest.mark.parametrize("entry", COMPONENT.controllers, ids=NAMES)
def test_offline_a_controller_is_as_it_would_be_if_it_were_enabled(
    entry: Entry,
) -> None:
    is_optional = not entry.is_enabled(ResourceManagerConfiguration())
    enabled = decode(document(**{entry.section: {"enabled": True} if is_optional else {}})).unwrap().configuration
    disabled = decode(document(), Purpose.OFFLINE).unwrap().configuration
    assert entry.is_enabled(enabled)

    (offline,) = chosen_controllers([entry.name], Stated(COMPONENT, Decoded(disabled, ())), ask_files(()))

    assert declarations([offline.controller]) == declarations([entry.build(enabled, "")])


def test_every_section_of_a_controller_is_that_of_an_entry() -> None:
    declared = {field.name for field in Controllers.declared} - SHARED

    assert declared == {entry.section for entry in COMPONENT.controllers}
    assert set(SECTIONS) == {entry.section for entry in COMPONENT.controllers}


@pytest.mark.parametrize("entry", COMPONENT.controllers, ids=NAMES)
def test_a_process_runs_a_controller_unless_its_section_disables_it(
    entry: Entry,
) -> None:
    others = {name: section for name, section in SECTIONS.items() if name != entry.section}
    can_be_disabled = "enabled" in SECTIONS[entry.section]

    assert entry.is_enabled(decode(EVERYTHING).unwrap().configuration)
    assert entry.is_enabled(decode(document(**others)).unwrap().configuration) is not can_be_disabled


def test_the_chart_has_a_switch_for_each_controller_that_can_be_enabled() -> None:
    enabled = {field for switch in CHARTS[COMPONENT.name].controllers for group in switch.fields for field in group}

    assert {f"controllers.{name}.enabled" for name, section in SECTIONS.items() if "enabled" in section} <= enabled


JUDGED = """\
apiVersion: resources.gardener.cloud/v1alpha1
kind: ManagedResource
metadata: {name: example, namespace: garden, generation: 1}
spec: {secretRefs: []}
status:
  observedGeneration: 1
  conditions:
  - {type: ResourcesApplied, status: "True", reason: ApplySucceeded, message: m,
     lastTransitionTime: "2026-01-01T00:00:00Z", lastUpdateTime: "2026-01-01T00:00:00Z"}
"""


@pytest.mark.parametrize("name", ["health", "health-progressing"])
def test_in_a_simulation_objects_are_judged_again_after_the_configured_period(
    name: str, hedgerow: Hedgerow, folder: Path
) -> None:
    config = {"apiVersion": API_VERSION, "kind": KIND, "controllers": {"health": {"syncPeriod": "7m"}}}
    (folder / "config.yaml").write_text(json.dumps(config))

    ended = hedgerow("simulate", name, "-f", "-", "--config", "config.yaml", "--for", "36m", stdin=JUDGED)

    assert ended.code == 0
    assert ended.err.endswith("; next due at 0d 00:42:00\n")
