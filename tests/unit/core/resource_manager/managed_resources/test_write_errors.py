"""What follows a write that an API server has refused."""

from typing import Any, Final

import pytest

from hedgerow.api.managed_resources import DELETE_ON_INVALID_UPDATE
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import Action, ApiError, Cause, Create, Delete, Update, WriteResult
from hedgerow.resource_manager.managed_resources.write_errors import (
    error_text,
    has_come_too_late,
    is_to_be_read_again,
    replacement,
)

THINGS: Final = Resource("", "v1", "things", "Thing")
KEY: Final = ObjectKey("default", "a")
IMMUTABLE: Final = Cause("FieldValueForbidden", "field is immutable when `immutable` is set", "data")
OTHER: Final = Cause("FieldValueForbidden", "may not be set", "data")


def thing(kind: str = "Thing", /, **annotations: Any) -> Manifest:
    metadata = {"namespace": "default", "name": "a", "uid": "u", "annotations": annotations}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata}


def refused(action: Action, code: int, *causes: Cause, reason: str = "") -> WriteResult:
    return WriteResult(action, None, ApiError(code, reason, f"refused with {code}", causes))


BECAUSE: Final = (
    "because of 'invalid' update error, and 'delete-on-invalid-update' annotation on object or the resource is an "
    "immutable ConfigMap/Secret"
)
UPDATE: Final = Update(THINGS, thing(), "differs")
CREATION: Final = Create(THINGS, thing(), "missing")
DELETION: Final = Delete(THINGS, KEY, "invalid-update")


@pytest.mark.parametrize(
    ("write", "is_read"),
    [
        (refused(CREATION, 409), True),
        (refused(CREATION, 403), True),
        (refused(CREATION, 0), False),
        (refused(UPDATE, 409), True),
        (refused(UPDATE, 404, reason="NotFound"), True),
        (refused(UPDATE, 404), False),
        (refused(UPDATE, 422), False),
        (refused(DELETION, 409), False),
        (WriteResult(UPDATE, thing()), False),
    ],
)
def test_an_object_is_read_again_if_it_may_differ_from_what_was_read(write: WriteResult, *, is_read: bool) -> None:
    assert is_to_be_read_again([write]) is is_read


def test_after_four_attempts_an_object_is_not_read_again() -> None:
    write = refused(UPDATE, 409)

    assert [is_to_be_read_again([write] * count) for count in range(1, 6)] == [True, True, True, False, False]


def test_a_write_comes_too_late_for_an_object_that_was_changed_or_is_gone() -> None:
    assert has_come_too_late(refused(UPDATE, 409))
    assert has_come_too_late(refused(UPDATE, 404, reason="NotFound"))
    assert not has_come_too_late(refused(UPDATE, 404))
    assert not has_come_too_late(WriteResult(UPDATE, thing()))


@pytest.mark.parametrize(
    ("manifest", "causes"),
    [
        (thing(**{DELETE_ON_INVALID_UPDATE: "true"}), ()),
        (thing(**{DELETE_ON_INVALID_UPDATE: "1"}), (OTHER,)),
        (thing("ConfigMap"), (IMMUTABLE,)),
        (thing("Secret"), (Cause("FieldValueInvalid", "is wrong", "type"), IMMUTABLE)),
    ],
)
def test_an_object_that_cannot_be_updated_is_deleted_where_that_is_allowed(
    manifest: Manifest, causes: tuple[Cause, ...]
) -> None:
    write = refused(Update(THINGS, manifest, "differs"), 422, *causes)

    assert replacement(write) == Delete(THINGS, KEY, "invalid-update", "u")


@pytest.mark.parametrize(
    ("manifest", "code", "causes"),
    [
        (thing(), 422, ()),
        (thing(), 422, (IMMUTABLE,)),
        (thing(**{DELETE_ON_INVALID_UPDATE: "false"}), 422, ()),
        (thing(**{DELETE_ON_INVALID_UPDATE: "yes"}), 422, ()),
        (thing(**{DELETE_ON_INVALID_UPDATE: True}), 422, ()),
        (thing(**{DELETE_ON_INVALID_UPDATE: "true"}), 403, ()),
        (thing("ConfigMap"), 422, ()),
        (thing("ConfigMap"), 422, (OTHER, IMMUTABLE)),
    ],
)
def test_any_other_object_stays(manifest: Manifest, code: int, causes: tuple[Cause, ...]) -> None:
    assert replacement(refused(Update(THINGS, manifest, "differs"), code, *causes)) is None


def test_only_an_update_is_replaced_by_a_deletion() -> None:
    manifest = thing(**{DELETE_ON_INVALID_UPDATE: "true"})

    assert replacement(refused(Create(THINGS, manifest, "missing"), 422)) is None
    assert replacement(WriteResult(Update(THINGS, manifest, "differs"), manifest)) is None


@pytest.mark.parametrize(
    ("writes", "text"),
    [
        ([refused(UPDATE, 403)], 'error during apply of object "x": refused with 403'),
        ([refused(UPDATE, 409)], "refused with 409"),
        ([refused(CREATION, 409)], 'error during apply of object "x": refused with 409'),
        (
            [refused(UPDATE, 422), refused(DELETION, 403)],
            "error deleting object \"x\" after 'invalid' update error: refused with 403",
        ),
        (
            [refused(UPDATE, 422), WriteResult(DELETION)],
            f'deleted object "x" {BECAUSE}: refused with 422',
        ),
    ],
)
def test_the_error_of_an_object_has_the_servers_words(writes: list[WriteResult], text: str) -> None:
    assert error_text(writes, "x") == text
