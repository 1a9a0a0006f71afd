"""The golden cases of the Service NetworkPolicy controller: where they lie, what they say, what comes out of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from hedgerow.api.kubernetes import INGRESSES, NAMESPACES, NETWORK_POLICIES, SERVICES
from hedgerow.machinery.configuration.section import Purpose
from hedgerow.machinery.controller import Context, all_keys
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.plan import Action, Create, Delete, MergePatch
from hedgerow.resource_manager.configuration import decode
from hedgerow.resource_manager.network_policies import NetworkPolicyConfig, network_policy_controller
from hedgerow_adapters.cache import StoreSnapshot
from tests.executions import plan_of
from tests.snapshots import snapshot_over

DIRECTORY = Path(__file__).parent
CONTEXT_TIME = datetime(2026, 1, 1, tzinfo=UTC)
RESOURCES = {resource.kind: resource for resource in (SERVICES, NAMESPACES, INGRESSES, NETWORK_POLICIES)}
VERBS = {Create: "create", MergePatch: "patch", Delete: "delete"}


@dataclass(frozen=True)
class Case:
    """One directory: a world, and what the controller makes of it."""

    directory: Path

    @property
    def objects(self) -> list[Manifest]:
        """The world before."""
        return documents(self.directory / "input.yaml")

    @property
    def config(self) -> NetworkPolicyConfig:
        """The controller's part of the configuration; without a file everything is at its default."""
        path = self.directory / "config.yaml"
        if not path.exists():
            return NetworkPolicyConfig()
        return (
            decode(yaml.safe_load(path.read_text()), Purpose.OFFLINE)
            .unwrap()
            .configuration.controllers.network_policy.rules
        )

    def lines(self, name: str) -> list[str]:
        """The lines of a text file, none of one that does not exist."""
        path = self.directory / name
        return path.read_text().splitlines() if path.exists() else []


@dataclass(frozen=True)
class CaseResult:
    """What the controller left, and how it came to it."""

    policies: Mapping[ObjectKey, Manifest]
    actions: list[str]
    failures: list[str]


def all_cases() -> list[Case]:
    """The cases, by name."""
    return [Case(path.parent) for path in sorted(DIRECTORY.glob("*/input.yaml"))]


def documents(path: Path) -> list[Any]:
    """The documents of a YAML file that are not empty; none of a file that does not exist."""
    return [each for each in yaml.load_all(path.read_text(), yaml.CSafeLoader) if each] if path.exists() else []


def outcome(objects: Iterable[Manifest], config: NetworkPolicyConfig) -> CaseResult:
    """What a look at every Service, one after the other, makes of the policies."""
    controller = network_policy_controller(config)
    watched = {watch.resource for watch in controller.watches}
    world: dict[Resource, dict[ObjectKey, Manifest]] = {resource: {} for resource in RESOURCES.values()}
    for manifest in objects:
        world[RESOURCES[manifest["kind"]]][key_of(manifest)] = manifest
    policies, actions, failures = world[NETWORK_POLICIES], list[str](), list[str]()

    def snapshot() -> StoreSnapshot:
        present = {resource: held.values() for resource, held in world.items() if resource in watched}
        return snapshot_over(controller, present)

    for key in all_keys(controller, snapshot()):
        plan = plan_of(controller.reconcile(key, snapshot(), Context(CONTEXT_TIME, config)))
        failures += map(str, plan.failures)
        for action in plan.actions:
            actions.append(f"{VERBS[type(action)]} {action.key} ({action.reason})")
            carry_out(action, policies)
    return CaseResult(policies, actions, failures)


def carry_out(action: Action, policies: dict[ObjectKey, Manifest]) -> None:
    """Do to the policies what an API server would do."""
    match action:
        case Create():
            assert action.key not in policies
            policies[action.key] = action.manifest
        case MergePatch(_, key, patch):
            policies[key] = apply_merge_patch(policies[key], patch)
        case Delete(_, key):
            del policies[key]
        case _:
            raise TypeError(f"unexpected {action}")


def rendered(manifests: Iterable[Manifest]) -> str:
    """Documents as the expected files hold them: one line per value, in the order of the API documentation."""
    return yaml.safe_dump_all(manifests, sort_keys=False, width=float("inf"))
