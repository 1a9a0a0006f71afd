"""What `hedgerow plan controller-registration` and reviews say of registrations that are not as their author means."""

from typing import Any

import yaml

from hedgerow.machinery.objects import Manifest
from tests.unit.core.registration.objects import registration, seed
from tests.unit.entrypoints.command_line import Hedgerow

PLAN = ("plan", "controller-registration", "-f", "-")
SEED = seed("local", spec={"provider": {"type": "local"}})


def written(*objects: Manifest) -> str:
    return yaml.safe_dump_all(objects)


def misspelled() -> dict[str, Any]:
    manifest = registration("os", {"kind": "OperatingSystemConfig", "type": "os", "primry": True}, polcy="Always")
    return {**manifest, "spec": {**manifest["spec"], "resource": []}}


NOTES = (
    "note: <stdin>:1: ControllerRegistration os: spec.resource: is an unknown field; did you mean resources?\n"
    "note: <stdin>:1: ControllerRegistration os: spec.resources[0].primry: is an unknown field; did you mean primary?\n"
    "note: <stdin>:1: ControllerRegistration os: spec.deployment.polcy: is an unknown field; did you mean policy?\n"
)


def test_unknown_fields_are_noted_whichever_command_reads_them(hedgerow: Hedgerow) -> None:
    planned = hedgerow(*PLAN, stdin=written(misspelled()))
    reviewed = hedgerow("review", "controller-registration-validation", "-f", "-", stdin=written(misspelled()))

    assert planned.err == f"{NOTES}note: there is no Seed\nnothing to do\n"
    assert reviewed.err == f"{NOTES}1 unchanged\n"


def test_fields_that_servers_write_into_metadata_are_known(hedgerow: Hedgerow) -> None:
    known = registration("os", {"kind": "OperatingSystemConfig", "type": "os"})
    known["metadata"] |= {"selfLink": "", "managedFields": [], "ownerReferences": []}

    assert "unknown" not in hedgerow(*PLAN, stdin=written(known)).err


def test_what_is_wrong_with_a_registration_that_nobody_wants_is_noted(hedgerow: Hedgerow) -> None:
    bad = registration("os", {"kind": "OperatingSystem", "type": "os"}, policy="Alway")

    ended = hedgerow(*PLAN, stdin=written(SEED, bad))

    assert ended.code == 0
    assert 'note: ControllerRegistration os: spec.resources[0].kind: Unsupported value: "OperatingSystem"' in ended.err
    assert 'note: ControllerRegistration os: spec.deployment.policy: Unsupported value: "Alway"' in ended.err


def test_what_is_wrong_with_one_that_is_wanted_is_an_error_and_said_once(hedgerow: Hedgerow) -> None:
    bad = registration("os", {"kind": "OperatingSystem", "type": "os"}, policy="Always", type="helm")

    ended = hedgerow(*PLAN, stdin=written(SEED, bad))

    assert ended.code == 1
    assert ended.err.count("spec.resources[0].kind") == 1
    assert "error: <stdin>:2: ControllerRegistration os: spec.resources[0].kind: Unsupported value" in ended.err
