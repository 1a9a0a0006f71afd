"""Which instance a ManagedResource belongs to, and who has to act on it."""

from typing import Any

import pytest

from hedgerow.api.managed_resources import ClassFilter

BASE = "resources.gardener.cloud/gardener-resource-manager"


def managed_resource(wanted_class: str | None, *finalizers: str) -> dict[str, Any]:
    spec = {} if wanted_class is None else {"class": wanted_class}
    return {"metadata": {"name": "mr", "finalizers": list(finalizers)}, "spec": spec}


@pytest.mark.parametrize(
    ("own", "wanted", "finalizers", "acts", "is_responsible"),
    [
        pytest.param("", None, [BASE], True, True, id="CL-1"),
        pytest.param("", "new", [BASE], True, False, id="CL-2"),
        pytest.param("new", "new", [BASE], False, True, id="CL-3"),
        pytest.param("", "new", [f"{BASE}-new"], False, False, id="CL-4"),
        pytest.param("", "resources", [], True, True, id="CL-5"),
        pytest.param("resources", "", [], True, True, id="none, responsible"),
        pytest.param("seed", None, [], False, False, id="none, not responsible"),
        pytest.param("seed", "seed", [f"{BASE}-seed"], True, True, id="own, responsible"),
        pytest.param("seed", "resources", [f"{BASE}-seed"], True, False, id="own, not responsible"),
        pytest.param("seed", "seed", [f"{BASE}-seed-2"], False, True, id="foreign, responsible"),
        pytest.param("seed", "shoot", [BASE], False, False, id="foreign, not responsible"),
        pytest.param("", None, ["example.com/other"], True, True, id="finalizers of others do not count"),
        pytest.param("", "new", [f"{BASE}-new", BASE], True, False, id="held by both"),
    ],
)
def test_who_acts_on_a_managed_resource(
    own: str,
    wanted: str | None,
    finalizers: list[str],
    acts: bool,  # noqa: FBT001 -- a column of the table
    is_responsible: bool,  # noqa: FBT001 -- as above
) -> None:
    class_filter, subject = ClassFilter(own), managed_resource(wanted, *finalizers)

    assert (class_filter.has_to_act(subject), class_filter.is_responsible(subject)) == (acts, is_responsible)
    assert class_filter.passes(subject) is (acts or is_responsible)


def test_the_finalizer_names_every_class_but_the_default() -> None:
    assert [ClassFilter(own).finalizer for own in ("", "resources", "seed")] == [BASE, BASE, f"{BASE}-seed"]


def test_a_manifest_of_nothing_but_a_name_is_of_the_default_class() -> None:
    assert ClassFilter().has_to_act({"metadata": {"name": "mr", "finalizers": None}, "spec": None})


@pytest.mark.parametrize("spec", [None, "what?", {"class": 5}, {"class": None}])
@pytest.mark.parametrize("finalizers", [None, "what?", [5, None]])
def test_what_has_another_shape_than_a_server_stores_says_nothing(spec: Any, finalizers: Any) -> None:
    managed_resource = {"metadata": {"finalizers": finalizers}, "spec": spec}

    assert ClassFilter().passes(managed_resource)
    assert not ClassFilter("other").passes(managed_resource)
