"""Which Extensions a Shoot has, in which order they are worked on, and when one is ready (§12)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hedgerow.machinery.objects import Manifest
from hedgerow.registration.extensions import (
    ExtensionSpec,
    NotReady,
    check_status_write,
    extension_unready,
    extensions_for_shoot,
    is_before,
    namespace_labels,
    requested_extension,
)
from hedgerow.registration.registrations import LIFECYCLE, Registration
from hedgerow.registration.wanted import ListedExtension
from tests.unit.core.registration.objects import registration

MINUTE = timedelta(minutes=1)
DEFAULT = LIFECYCLE
FOO: dict[str, Any] = {"kind": "Extension", "type": "foo", "reconcileTimeout": "5m"}
BAR: dict[str, Any] = {"kind": "Extension", "type": "bar", "globallyEnabled": True}
OTHER: dict[str, Any] = {"kind": "Worker", "type": "other", "globallyEnabled": True}


def found(
    *resources: Manifest, shoot: tuple[ListedExtension, ...] = (), workerless: bool = False
) -> dict[str, ExtensionSpec]:
    registrations = [Registration.of(registration(f"r{number}", each)) for number, each in enumerate(resources)]
    return extensions_for_shoot(registrations, shoot, "shoot--a--b", workerless=workerless)


def spec(type_: str, timeout: timedelta = 3 * MINUTE, config: Any = None) -> dict[str, ExtensionSpec]:
    return {type_: ExtensionSpec(type_, "shoot--a--b", type_, config, timeout, DEFAULT)}


CONFIG = {"a": [1]}


def entry(type_: str, **fields: Any) -> ListedExtension:
    return ListedExtension.of({"type": type_, **fields})


def test_without_registrations_a_shoot_has_none() -> None:  # G1, G2
    assert found() == {}
    assert found(shoot=(entry("foo"),)) == {}


def test_what_a_shoot_lists_it_has_with_its_configuration() -> None:  # G3, G4
    assert found(FOO, shoot=(entry("foo", providerConfig=CONFIG),)) == spec("foo", 5 * MINUTE, CONFIG)
    assert found(FOO) == {}


def test_what_is_enabled_for_all_every_shoot_has() -> None:  # G5
    assert found(BAR) == spec("bar")


@pytest.mark.parametrize("opted_out", [{"disabled": True}, {"enabled": False}])
def test_unless_it_opts_out(opted_out: dict[str, bool]) -> None:  # G6
    assert found(BAR, shoot=(entry("bar", **opted_out),)) == {}


def test_who_opts_out_of_one_keeps_the_others() -> None:  # G7
    assert found(FOO, BAR, shoot=(entry("foo"), entry("bar", disabled=True))) == spec("foo", 5 * MINUTE)


def test_an_entry_configures_what_is_enabled_for_all() -> None:  # G8
    assert found(FOO, BAR, OTHER, shoot=(entry("bar", providerConfig=CONFIG),)) == spec("bar", config=CONFIG)


def test_a_shoot_without_workers_has_what_supports_that_or_is_listed() -> None:  # G9, G10, G11
    assert found({**BAR, "workerlessSupported": True}, workerless=True) == spec("bar")
    assert found(BAR, workerless=True) == {}
    assert found(BAR, shoot=(entry("bar"),), workerless=True) == spec("bar")


@pytest.mark.parametrize("primary_first", [True, False])
def test_of_several_registrations_the_primary_one_counts(primary_first: bool) -> None:  # noqa: FBT001 -- G12
    primary, secondary = {**FOO, "reconcileTimeout": "30s"}, {**FOO, "primary": False, "reconcileTimeout": "10m"}
    resources = (primary, secondary) if primary_first else (secondary, primary)

    assert found(*resources, shoot=(entry("foo"),)) == spec("foo", timedelta(seconds=30))


LIFECYCLES = {  # G13, and the same of deletions and migrations
    ("reconcile", "BeforeKubeAPIServer"): True,
    ("reconcile", "AfterKubeAPIServer"): False,
    ("reconcile", ""): False,
    ("delete", "BeforeKubeAPIServer"): True,
    ("delete", "AfterKubeAPIServer"): False,
    ("delete", ""): True,
    ("migrate", "AfterKubeAPIServer"): False,
    ("migrate", ""): True,
}


@pytest.mark.parametrize(("operation", "when"), LIFECYCLES)
def test_a_lifecycle_says_when_an_extension_is_worked_on(operation: Any, when: str) -> None:
    lifecycle = {**dict.fromkeys(("reconcile", "delete", "migrate"), "other"), operation: when}

    assert is_before(lifecycle, operation) is LIFECYCLES[operation, when]


def test_the_namespace_of_a_shoot_names_its_types_whoever_registers_them_and_without_workers_too() -> None:
    registrations = [Registration.of(registration("r", BAR, {**BAR, "type": "out"}, FOO))]
    shoot = (entry("out", disabled=True), entry("unregistered"))

    assert namespace_labels(registrations, shoot) == {
        "extensions.gardener.cloud/bar": "true",
        "extensions.gardener.cloud/unregistered": "true",
    }


NOW = datetime(2026, 1, 1, 10, 0, 0, 123456, UTC)
(EXTENSION,) = spec("foo").values()


def test_an_extension_that_is_made_says_what_is_asked_of_it() -> None:
    assert requested_extension(EXTENSION, None, "restore", NOW, {"of": "mine"}) == {
        "apiVersion": "extensions.gardener.cloud/v1alpha1",
        "kind": "Extension",
        "metadata": {
            "name": "foo",
            "namespace": "shoot--a--b",
            "annotations": {
                "gardener.cloud/operation": "restore",
                "gardener.cloud/timestamp": "2026-01-01T10:00:00.123456000Z",
                "of": "mine",
            },
        },
        "spec": {"type": "foo"},
    }


def test_one_that_exists_keeps_what_others_say_and_loses_a_configuration_that_is_not_wanted() -> None:
    metadata = {"name": "foo", "namespace": "shoot--a--b", "annotations": {"theirs": "yes"}, "labels": {"a": "b"}}
    stored = {"metadata": metadata, "spec": {"type": "old", "providerConfig": CONFIG, "class": "x"}, "status": {}}
    desired = requested_extension(EXTENSION, stored, "reconcile", NOW, {})

    assert desired["spec"] == {"type": "foo", "class": "x"}
    assert desired["metadata"]["annotations"]["theirs"] == "yes"
    assert (desired["metadata"]["labels"], desired["status"]) == ({"a": "b"}, {})


LAST = {"type": "Reconcile", "state": "Succeeded", "lastUpdateTime": "2026-01-01T10:00:00Z"}
ASKED = "2026-01-01T10:00:00.999999999Z"


def extension(timestamp: str | None = ASKED, operation: str | None = None, **status: Any) -> dict[str, Any]:
    given = {"gardener.cloud/timestamp": timestamp, "gardener.cloud/operation": operation}
    annotations = {name: text for name, text in given.items() if text is not None}
    status = {"observedGeneration": 2, "lastOperation": LAST, **status}
    return {"metadata": {"name": "foo", "generation": 2, "annotations": annotations}, "status": status}


UNREADY = {
    "1 no annotation": (
        extension(timestamp=None),
        NotReady('object does not have "gardener.cloud/timestamp" annotation'),
    ),
    "1 another annotation": (
        extension(timestamp="then", operation="reconcile"),
        NotReady(f'object\'s "gardener.cloud/timestamp" annotation is not "{ASKED}" but "then"'),
    ),
    "2": (
        extension(lastError={"description": "boom", "codes": ["ERR_A"]}, observedGeneration=1),
        NotReady("error during reconciliation: boom", from_controller=True, codes=("ERR_A",)),
    ),
    "3": (extension(observedGeneration=1, operation="reconcile"), NotReady("observed generation outdated (1/2)")),
    "4": (
        extension(operation="reconcile", lastOperation=None),
        NotReady('gardener operation "reconcile" is not yet picked up by controller'),
    ),
    "5": (extension(lastOperation=None), NotReady("extension did not record a last operation yet")),
    "6": (
        extension(lastOperation={**LAST, "state": "Processing"}),
        NotReady("extension state is not succeeded but Processing"),
    ),
    "7 later": (
        extension(lastOperation={**LAST, "lastUpdateTime": "2026-01-01T09:59:59Z"}),
        NotReady(
            "extension is not reconciled yet - reconciliation requested at 2026-01-01T10:00:00Z, "
            "last update time is: 2026-01-01T09:59:59Z"
        ),
    ),
}


@pytest.mark.parametrize("name", UNREADY)
def test_the_first_thing_that_keeps_an_extension_from_being_ready_is_told(name: str) -> None:
    manifest, unready = UNREADY[name]

    assert extension_unready(manifest, ASKED) == unready


def test_an_annotation_that_is_no_time_keeps_it_from_being_ready() -> None:  # 7
    unready = NotReady('cannot parse gardener.cloud/timestamp annotation: "then" is no time')

    assert extension_unready(extension(timestamp="then")) == unready


def test_one_is_ready_that_was_told_of_in_the_second_in_which_it_was_asked_for() -> None:  # 8
    assert extension_unready(extension(), ASKED) is None
    assert extension_unready(extension()) is None


def test_one_is_ready_of_which_nothing_was_asked() -> None:
    assert extension_unready(extension(timestamp=None)) is None


BEFORE = {"state": {"a": 1}, "conditions": [{"type": "Mine", "status": "False"}, {"type": "Theirs", "status": "True"}]}
AFTER = {"lastOperation": LAST, "conditions": [{"type": "Mine", "status": "True"}, {"type": "New", "status": "True"}]}


def test_the_primary_controller_may_write_everything() -> None:
    assert check_status_write("primary", BEFORE, AFTER) == []


def test_a_secondary_controller_may_write_its_own_conditions_alone() -> None:
    assert check_status_write("secondary", BEFORE, AFTER) == ["lastOperation", "state"]
    assert check_status_write("secondary", BEFORE, AFTER, {"Mine", "New"}) == [
        "conditions[Theirs]",
        "lastOperation",
        "state",
    ]
    assert check_status_write("secondary", BEFORE, BEFORE, ()) == []
