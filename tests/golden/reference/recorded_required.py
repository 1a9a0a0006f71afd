"""Recorded rounds of the extension objects in a seed, and the conditions of its installations after each of them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from hedgerow.api.registrations import EXTENSION_KINDS
from hedgerow.machinery import snapshot_of
from hedgerow.machinery.controller import Change, Context, concerned_keys
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.plan import MergePatch, Plan, WriteResult
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Step
from hedgerow.registration.conditions import CheckConfig
from hedgerow.registration.required import reconcile, required_controller
from tests.executions import executed

Recording = Mapping[str, Any]
Objects = dict[ObjectKey, Manifest]


class RecordedSeed:
    """A seed, as far as its extension objects were listed."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.controller = required_controller(CheckConfig(recording["seed"]))
        self.installations = {key_of(each): each for each in recording["installations"]}
        self.listed: dict[str, Objects] = {}

    def snapshot(self) -> Snapshot:
        """What the caches show: of a kind that was never listed nothing."""
        known = {EXTENSION_KINDS[kind] for kind in self.listed}
        unknown = {*EXTENSION_KINDS.values()} - known
        controller = replace(
            self.controller, watches=tuple(each for each in self.controller.watches if each.resource not in unknown)
        )
        target = [each for objects in self.listed.values() for each in objects.values()]
        source = [*self.recording["registrations"], *self.installations.values()]
        return snapshot_of(controller, target, source).unwrap()

    def list(self, kind: str, listed: Recording) -> None:
        """List the objects of a kind anew, and compare which installations are judged because of that."""
        error = listed["listError"].get(kind)
        before = self.listed.get(kind)
        if error in {None, "nomatch"}:
            found = [each for each in listed["objects"] if each["kind"] == kind and not error]
            self.listed[kind] = {key_of(each): each for each in found}
        now = self.listed.get(kind)
        (watch,) = (each for each in self.controller.watches if each.resource == EXTENSION_KINDS[kind])
        snapshot = self.snapshot()
        concerned = {key.name for key in watch.enqueue({}, snapshot)}
        expected = {*listed["enqueued"][kind]}
        if expected:
            assert concerned == expected
        elif concerned:
            assert now is before or types(before) == types(now)
        if before is not None and now is not None and types(before) != types(now):
            changes = [
                Change(before.get(key), now.get(key)) for key in {*before, *now} if before.get(key) != now.get(key)
            ]
            transformed = [
                Change(*(each and watch.transform(each) for each in (change.old, change.new))) for change in changes
            ]
            keys = {key.name for change in transformed for key in concerned_keys(watch, change, snapshot)}
            assert keys == concerned

    def judge(self, key: ObjectKey, now: datetime) -> Plan:
        """Judge one installation, and store its conditions."""

        def perform(step: Step[Any]) -> WriteResult:
            assert isinstance(step, MergePatch)
            self.installations[key] = apply_merge_patch(self.installations[key], step.patch)
            return WriteResult(step, self.installations[key])

        plan, _ = executed(reconcile(key, self.snapshot(), Context(now, self.controller.config)), perform)
        return plan

    def own(self) -> Iterator[ObjectKey]:
        for key, installation in self.installations.items():
            if installation["spec"]["seedRef"]["name"] == self.recording["seed"]:
                yield key


def types(objects: Objects | None) -> set[str] | None:
    return None if objects is None else {each["spec"]["type"] for each in objects.values()}


def check(recording: Recording) -> None:
    """After each round the same types are known, the same errors found and the same conditions written."""
    recorded = RecordedSeed(recording)
    for listed in recording["rounds"]:
        for kind in listed["computed"]:
            recorded.list(kind, listed)
        assert {kind: sorted(types(each) or ()) for kind, each in recorded.listed.items()} == listed["requiredTypes"]
        now = datetime.fromisoformat(listed["now"])
        failed = {key.name for key in recorded.own() if recorded.judge(key, now).failures}
        assert failed == {*listed["errors"]}
        for name, conditions in listed["conditions"].items():
            found = recorded.installations[ObjectKey("", name)].get("status", {}).get("conditions") or []
            assert [*map(comparable, found)] == [*map(comparable, conditions or [])]


def comparable(condition: Mapping[str, Any]) -> dict[str, Any]:
    """A condition without what differs from run to run: the reference lists several types in any order."""
    is_random = " " in condition["message"].partition("[")[2]
    return {name: value for name, value in condition.items() if not (is_random and name == "lastUpdateTime")}
