"""Nothing that was created is forgotten, however far a delivery came before it failed."""

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.api.managed_resources import APPLIED, IGNORE, MANAGED_BY, MANAGED_RESOURCES, ORIGIN, ClassFilter
from hedgerow.api.references import references_of
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.plan import Action, ApiError, Create, JsonPatch, WriteResult
from hedgerow.machinery.questions import NotAnswered, ObjectQuestion
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig
from tests.unit.core.resource_manager.managed_resources.harness import (
    CONFIG_MAPS,
    KEY,
    CrashError,
    Harness,
    config_map,
    managed_resource,
    new_cluster,
    secret,
)

MOST_TURNS: Final = 10
LABELS: Final = {MANAGED_BY: "gardener"}


def refused(name: str) -> dict[str, Any]:
    """An object that no API server accepts."""
    return {**config_map(name), "data": {"k": 5}}


def harness(*objects: Manifest) -> Harness:
    made = Harness()
    made.put(secret(objects=objects), managed_resource("secret"))
    return made


def rested(made: Harness) -> Harness:
    for _ in range(MOST_TURNS):
        if all(each.error for each in made.turn().outcomes):
            return made
    raise AssertionError("it does not come to rest")


def names(made: Harness) -> set[str]:
    return {each["metadata"]["name"] for each in made.target.objects(CONFIG_MAPS)}


def applied(made: Harness) -> dict[str, bool]:
    """Which objects the status refers to, and whether it says that they are applied."""
    return {each.key.name: each.is_applied for each in references_of(made.managed_resource())}


def correct(made: Harness, correction: str) -> None:
    match correction:
        case "deleted":
            made.delete(MANAGED_RESOURCES, KEY.name)
        case "emptied":
            made.put(managed_resource())
        case "changed":
            made.put(secret(objects=[config_map("other")]))


CORRECTIONS: Final = st.sampled_from(["changed", "emptied", "deleted"])


@given(
    failing=st.integers(0, 5),
    before=st.integers(0, 5),
    correction=CORRECTIONS,
    restarts=st.booleans(),
    created_as_they_are=st.sets(st.integers(0, 5)),
)
def test_a_delivery_that_fails_half_way_and_is_corrected_leaves_nothing_behind(
    *, failing: int, before: int, correction: str, restarts: bool, created_as_they_are: set[int]
) -> None:
    def manifest(place: int) -> dict[str, Any]:
        return config_map(f"c{place}", annotations={IGNORE: "true"} if place in created_as_they_are else {})

    made = rested(harness(*(manifest(place) for place in range(before))))
    made.put(secret(objects=[refused(f"c{place}x") if place == failing else manifest(place) for place in range(6)]))
    rested(made)
    if restarts:
        made.restart()

    correct(made, correction)
    rested(made)

    assert names(made) == ({"other"} if correction == "changed" else set())


@given(st.integers(0, 8), CORRECTIONS)
def test_a_process_that_dies_at_any_write_leaves_nothing_behind_either(place: int, correction: str) -> None:
    made = harness(*(config_map(f"c{each}") for each in range(6)))
    writes = iter(range(100))

    def crash(_action: Action) -> None:
        if next(writes) == place:
            raise CrashError

    made.before_write = crash
    with pytest.raises(CrashError):
        rested(made)
    made.before_write = lambda _action: None
    made.restart()

    correct(made, correction)
    rested(made)

    assert names(made) == ({"other"} if correction == "changed" else set())


def test_the_status_refers_to_old_and_new_objects_before_the_first_is_created() -> None:
    made = rested(harness(config_map("old", labels={"x": "1"})))
    made.put(secret(objects=[config_map("old", labels={"x": "2"}), config_map("new"), refused("refused")]))
    seen: list[tuple[dict[str, bool], dict[str, str]]] = []

    def look(action: Action) -> None:
        if isinstance(action, Create):
            (old,) = (each for each in references_of(made.managed_resource()) if each.key.name == "old")
            seen.append((applied(made), dict(old.labels)))

    made.before_write = look
    made.turn()

    assert seen[0] == ({"new": False, "old": True, "refused": False}, {"x": "1", **LABELS})


def test_a_failed_delivery_tells_what_it_has_applied() -> None:
    made = harness(config_map("a", labels={"x": "1"}), refused("b"), config_map("c"))

    made.turn()

    assert applied(made) == {"a": True, "b": False, "c": False}
    entries = made.managed_resource()["status"]["resources"]
    assert [each.get("annotations") for each in entries] == [None, {APPLIED: "false"}, {APPLIED: "false"}]
    assert made.turn().writes == ["Create ConfigMap default/b"], "only what fails is tried again"


def test_a_label_of_a_failed_delivery_goes_with_its_correction() -> None:
    made = harness(config_map("a", labels={"x": "1"}), refused("b"))
    made.turn()
    made.put(secret(objects=[config_map("a")]))

    made.turn()

    assert made.live(CONFIG_MAPS, "a")["metadata"]["labels"] == LABELS


@pytest.mark.parametrize("correction", ["changed", "emptied", "deleted"])
def test_an_object_of_somebody_else_that_was_never_applied_stays(correction: str) -> None:
    made = harness(refused("a"), config_map("b"))
    made.put(config_map("b", {"mine": "x"}))
    made.turn()

    correct(made, correction)
    rested(made)

    assert made.live(CONFIG_MAPS, "b")["data"] == {"mine": "x"}


@pytest.mark.parametrize("is_applied", [False, True])
def test_an_object_that_may_not_be_read_holds_nothing_up_if_it_was_never_applied(*, is_applied: bool) -> None:
    made = harness(*([] if is_applied else [refused("a")]), config_map("b"))
    made.turn()
    made.answer = lambda question: (
        NotAnswered(403, "Forbidden", "you may not")
        if isinstance(question, ObjectQuestion) and question.resource == CONFIG_MAPS
        else None
    )
    made.delete(MANAGED_RESOURCES, KEY.name)

    rested(made)

    assert (made.source.get(MANAGED_RESOURCES, KEY) is not None) is is_applied


def test_an_object_whose_kind_may_not_be_looked_up_is_not_forgotten() -> None:
    made = harness(refused("a"), config_map("b"))
    made.turn()
    made.kind_answer = NotAnswered(403, "Forbidden", "you may not")
    made.delete(MANAGED_RESOURCES, KEY.name)

    rested(made)

    assert made.source.get(MANAGED_RESOURCES, KEY) is not None
    assert "is still pending: you may not" in made.condition().message


def test_nothing_is_created_if_the_status_cannot_be_written() -> None:
    made = harness(config_map("a"))

    def interfere(action: Action) -> None:
        if isinstance(action, JsonPatch):
            made.annotate(somebody="else")

    made.before_write = interfere

    report = made.turn()

    assert made.get(CONFIG_MAPS, "a") is None
    assert report.plan.failures[0].retryable
    made.before_write = lambda _action: None
    assert made.turn().plan.failures == ()


def test_objects_are_recorded_only_when_the_old_ones_are_gone() -> None:
    made = rested(harness(config_map("a", finalizers=["example.com/held"])))
    made.put(secret(objects=[config_map("b")]))

    rested(made)

    assert applied(made) == {"a": True}


def test_a_large_first_application_costs_no_request_more_than_before() -> None:
    made = harness(*(config_map(f"c{place}") for place in range(300)))

    report = made.turn()

    assert (len(report.writes), len(report.questions), report.status_writes) == (303, 1, 2)
    assert made.turn().requests == 0


@pytest.mark.parametrize("correction", ["changed", "emptied", "deleted"])
def test_an_instance_of_another_class_deletes_only_what_carries_the_origin(correction: str) -> None:
    source = new_cluster()
    old = Harness(source=source)
    old.put(secret(objects=[config_map("a"), config_map("b")]), managed_resource("secret"))
    rested(old)
    new = Harness(ManagedResourceConfig(ClassFilter("seed")), source=source)
    new.put(config_map("a", {"mine": "x"}), config_map("b", annotations={ORIGIN: "default/example"}))
    old.put(managed_resource("secret", **{"class": "seed"}))
    rested(old)

    def deleted_when_held(outcome: WriteResult) -> WriteResult:
        if outcome.action.reason == "held":
            new.delete(MANAGED_RESOURCES, KEY.name)
        return outcome

    if correction == "changed":
        new.put(secret(objects=[config_map("other")]))
    elif correction == "emptied":
        new.put(managed_resource(**{"class": "seed"}))
    else:
        new.after_write = deleted_when_held

    rested(new)

    assert new.live(CONFIG_MAPS, "a")["data"] == {"mine": "x"}
    assert new.get(CONFIG_MAPS, "b") is None


def test_an_instance_of_another_class_holds_nothing_before_the_status_says_that_it_applied_nothing() -> None:
    source = new_cluster()
    old = rested(Harness(source=source))
    old.put(secret(objects=[config_map("a")]), managed_resource("secret"))
    rested(old)
    old.put(managed_resource("secret", **{"class": "seed"}))
    rested(old)
    new = Harness(ManagedResourceConfig(ClassFilter("seed")), source=source)
    new.after_write = lambda result: (
        WriteResult(result.action, error=ApiError(403, "Forbidden", "you may not"))
        if isinstance(result.action, JsonPatch)
        else result
    )

    report = new.turn()

    assert report.plan.failures[0].problem.text == "could not update the ManagedResource status: you may not"
    assert not new.managed_resource()["metadata"].get("finalizers")
    assert new.get(CONFIG_MAPS, "a") is None
