"""What holds for ManagedResources whatever happens to them."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.api.managed_resources import FINALIZER, IGNORE, MANAGED_RESOURCES, MODE, ORIGIN, ClassFilter
from hedgerow.machinery.objects import Manifest, annotations_of, key_of
from hedgerow.machinery.plan import Action, Create, Delete, Update
from hedgerow.machinery.steps import Step
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig
from tests.unit.core.resource_manager.managed_resources.harness import (
    CONFIG_MAPS,
    KEY,
    CrashError,
    Harness,
    config_map,
    managed_resource,
    secret,
)

NAMES: Final = ("a", "b", "c", "d")
GIVEN_BY_THE_SERVER: Final = frozenset({"uid", "resourceVersion", "creationTimestamp", "generation"})
MOST_TURNS: Final = 20
SEVERAL_DIMENSIONS: Final = settings(max_examples=50)
"""What is asked for before and after, what happens, and at which step."""


@st.composite
def contents(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Some ConfigMaps; some of them are ignored in one way or the other."""
    chosen = draw(st.lists(st.sampled_from(NAMES), unique=True))
    annotations: st.SearchStrategy[Manifest] = st.sampled_from(
        [{}, {}, {}, {"note": "1"}, {"note": "2"}, {MODE: "Ignore"}, {IGNORE: "true"}]
    )
    return [
        config_map(
            name,
            draw(st.sampled_from([{}, {"k": "1"}, {"k": "2", "l": "x"}])),
            labels=draw(st.sampled_from([{}, {"x": "1"}, {"x": "2", "y": "3"}])),
            annotations=draw(annotations),
        )
        for name in chosen
    ]


def settled(made: Harness) -> Harness:
    """The harness once nothing is left to do."""
    for _ in range(MOST_TURNS):
        if not made.turn().writes:
            return made
    raise AssertionError("it does not come to rest")


def harness(objects: Sequence[Manifest]) -> Harness:
    made = Harness()
    made.put(secret(objects=objects), managed_resource("secret"))
    return made


def world(made: Harness) -> dict[str, Any]:
    """All ConfigMaps as manifests would say them, and what the status says."""
    objects = {each["metadata"]["name"]: _as_written(each) for each in made.target.objects(CONFIG_MAPS)}
    found = made.source.get(MANAGED_RESOURCES, KEY)
    return {"objects": objects, "status": found and found.get("status"), "held": found and _finalizers(found)}


def _as_written(live: Manifest) -> Manifest:
    metadata = {name: value for name, value in live["metadata"].items() if name not in GIVEN_BY_THE_SERVER}
    return {**live, "metadata": metadata}


def _finalizers(live: Manifest) -> list[str]:
    finalizers: list[str] = live["metadata"].get("finalizers", [])
    return finalizers


@given(contents(), contents())
def test_the_plan_of_what_was_applied_is_empty(before: list[Manifest], after: list[Manifest]) -> None:
    made = settled(harness(before))
    made.put(secret(objects=after))
    settled(made)

    assert made.turn().requests == 0
    made.restart()
    assert not made.turn().writes
    assert made.turn().requests == 0


@SEVERAL_DIMENSIONS
@given(contents(), contents(), st.integers(0, 12), st.sampled_from(["edited", "deleted"]))
def test_a_crash_at_any_write_makes_no_difference_in_the_end(
    before: list[Manifest], after: list[Manifest], place: int, fate: str
) -> None:
    def change(made: Harness) -> Harness:
        made.put(secret(objects=after))
        if fate == "deleted":
            made.delete(MANAGED_RESOURCES, KEY.name)
        return made

    crashing, undisturbed = (change(settled(harness(before))) for _ in range(2))
    writes = iter(range(100))

    def crash(_action: Action) -> None:
        if next(writes) == place:
            raise CrashError

    crashing.before_write = crash
    try:
        settled(crashing)
    except CrashError:
        crashing.before_write = lambda _action: None
        crashing.restart()

    assert world(settled(crashing)) == world(settled(undisturbed))


class Interruption:
    """Something that happens once, before a step."""

    def __init__(self, made: Harness, place: int, happen: Callable[[Harness], None]) -> None:
        self._made, self._place, self._happen = made, place, happen
        self._steps = itertools.count()
        self.is_over = False
        made.before_step = self._before_step

    def _before_step(self, _step: Step[Any]) -> None:
        if next(self._steps) == self._place:
            self.happen()

    def happen(self) -> None:
        """What happens, unless it has happened."""
        if not self.is_over:
            self.is_over = True
            self._happen(self._made)


def crash(_made: Harness) -> None:
    raise CrashError


PLACES: Final = st.integers(0, 24)
"""No reconciliation of these ManagedResources takes more steps."""
CACHES: Final = st.sampled_from(["fresh", "as old as the reconciliation"])


@SEVERAL_DIMENSIONS
@given(contents(), contents(), PLACES, CACHES)
def test_a_reconciliation_that_is_closed_at_any_step_makes_no_difference_in_the_end(
    before: list[Manifest], after: list[Manifest], place: int, caches: str
) -> None:
    closed, undisturbed = (settled(harness(before)) for _ in range(2))
    for made in (closed, undisturbed):
        made.caches_are_fresh = caches == "fresh"
        made.put(secret(objects=after))
    Interruption(closed, place, crash)

    try:
        settled(closed)
    except CrashError:
        closed.restart()

    assert world(settled(closed)) == world(settled(undisturbed))


def delete_but_for_its_objects(made: Harness) -> None:
    made.put(managed_resource("secret", keepObjects=True))
    made.delete(MANAGED_RESOURCES, KEY.name)


CHANGES: Final[dict[str, Callable[[Harness], None]]] = {
    "edited": lambda made: made.put(managed_resource("secret", injectLabels={"injected": "x"})),
    "annotated": lambda made: made.annotate(other="x"),
    "emptied": lambda made: made.put(managed_resource()),
    "deleted": lambda made: made.delete(MANAGED_RESOURCES, KEY.name),
    "deleted but for its objects": delete_but_for_its_objects,
    "ignored": lambda made: made.annotate(**{IGNORE: "true"}),
    "moved": lambda made: made.put(managed_resource("secret", **{"class": "seed"})),
}


@SEVERAL_DIMENSIONS
@given(contents(), contents(), PLACES, st.sampled_from(sorted(CHANGES)), CACHES)
def test_a_managed_resource_that_changes_or_goes_at_any_step_comes_to_what_it_asks_for_then(
    before: list[Manifest], after: list[Manifest], place: int, change: str, caches: str
) -> None:
    disturbed, undisturbed = (settled(harness(before)) for _ in range(2))
    for made in (disturbed, undisturbed):
        made.caches_are_fresh = caches == "fresh"
        made.put(secret(objects=after))

    interruption = Interruption(disturbed, place, CHANGES[change])
    settled(disturbed)
    interruption.happen()
    CHANGES[change](settled(undisturbed))

    found, expected = world(settled(disturbed)), world(settled(undisturbed))
    if change in {"ignored", "moved", "deleted but for its objects"}:
        # Objects stay as they are when it comes to that, and the status refers to them.
        said, held = conditions_of(found), found["held"]
        assert (said, held) == (conditions_of(expected), expected["held"])
    else:
        released = {each["metadata"]["name"] for each in after if MODE in each["metadata"]["annotations"]}
        for name in released:
            # It depends on the moment whether an object is released, or deleted.
            found["objects"].pop(name, None)
            expected["objects"].pop(name, None)
        assert beside_nothing(found) == beside_nothing(expected)


@SEVERAL_DIMENSIONS
@given(contents(), PLACES, st.sampled_from(["deleted", "emptied"]), CACHES)
def test_no_object_is_left_of_a_new_managed_resource_that_goes_or_asks_for_nothing_from_any_step_on(
    asked: list[Manifest], place: int, change: str, caches: str
) -> None:
    made = harness(asked)
    made.caches_are_fresh = caches == "fresh"
    interruption = Interruption(made, place, CHANGES[change])

    made.turn()
    interruption.happen()
    settled(made)

    assert [each for each in made.target.objects(CONFIG_MAPS) if ORIGIN in annotations_of(each)] == []
    assert made.source.get(MANAGED_RESOURCES, KEY) is None or change == "emptied"


def beside_nothing(found: dict[str, Any]) -> dict[str, Any]:
    """The world without empty members of the status: one that was never written is as good as one that is empty."""
    status = found["status"]
    return {**found, "status": status and {name: value for name, value in status.items() if value}}


def conditions_of(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    conditions = (found["status"] or {}).get("conditions", [])
    return sorted((each["type"], each["status"], each["reason"]) for each in conditions)


@given(contents(), contents(), st.sampled_from(["a: [", "{", "- x", "--- oops\na: b"]))
def test_what_cannot_be_decoded_never_leads_to_a_deletion(
    before: list[Manifest], after: list[Manifest], broken: str
) -> None:
    made = settled(harness(before))
    references = made.references()
    made.put(secret(objects=after, more=broken))
    deleted: list[Action] = []
    made.before_write = lambda action: deleted.append(action) if isinstance(action, Delete) else None

    settled(made)

    assert not deleted
    released = {f"ConfigMap/{each['metadata']['name']}" for each in after if MODE in each["metadata"]["annotations"]}
    assert {*references} - released <= {*made.references()}


@given(
    contents(),
    contents(),
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["default/other", "seed:default/other"])),
    st.sampled_from(["edited", "deleted"]),
)
def test_what_another_has_taken_over_is_not_touched_by_what_is_no_longer_asked_for(
    before: list[Manifest], after: list[Manifest], taken: dict[str, str], fate: str
) -> None:
    made = settled(harness(before))
    names = {each["metadata"]["name"] for each in made.target.objects(CONFIG_MAPS)}
    for name in taken.keys() & names:
        made.patch(CONFIG_MAPS, name, {"metadata": {"annotations": {ORIGIN: taken[name]}}})
    wanted = (
        set()
        if fate == "deleted"
        else {key_of(each).name for each in after if MODE not in each["metadata"]["annotations"]}
    )
    foreign = {name: made.live(CONFIG_MAPS, name) for name in (taken.keys() & names) - wanted}
    made.put(secret(objects=after))
    if fate == "deleted":
        made.delete(MANAGED_RESOURCES, KEY.name)

    settled(made)

    assert {name: made.get(CONFIG_MAPS, name) for name in foreign} == foreign


@given(contents(), contents(), st.lists(st.sampled_from(NAMES), unique=True))
def test_foreign_fields_survive(before: list[Manifest], after: list[Manifest], edited: list[str]) -> None:
    made = settled(harness(before))
    foreign = {"labels": {"foreign": "l"}, "annotations": {"foreign": "a"}, "ownerReferences": None}
    for name in edited:
        if made.get(CONFIG_MAPS, name) is not None:
            made.patch(CONFIG_MAPS, name, {"metadata": foreign})
    touched = {name for name in edited if made.get(CONFIG_MAPS, name) is not None}
    made.put(secret(objects=after))

    settled(made)

    for name in touched & {each["metadata"]["name"] for each in after}:
        metadata = made.live(CONFIG_MAPS, name)["metadata"]
        assert metadata["labels"]["foreign"] == "l"
        assert metadata["annotations"]["foreign"] == "a"


class Instances:
    """Two instances of different classes, and who of them has written what since the ManagedResource moved."""

    def __init__(self, objects: Sequence[Manifest]) -> None:
        self.old = settled(harness(objects))
        self.new = Harness(ManagedResourceConfig(ClassFilter("seed")), target=self.old.target)
        self.old.put(managed_resource("secret", **{"class": "seed"}))
        self.old.before_write = self._note
        self.new.before_write = self._note

    def _note(self, action: Action) -> None:
        assert not isinstance(action, Delete), "a move deletes nothing"
        if isinstance(action, Create | Update) and action.resource == CONFIG_MAPS:
            assert _finalizers(self.new.managed_resource()) == [f"{FINALIZER}-seed"], "the old one has it still"


@given(contents(), st.lists(st.sampled_from(["old", "new", "old restarts"]), max_size=10))
def test_a_class_move_hands_the_very_same_objects_over(objects: list[Manifest], turns: list[str]) -> None:
    instances = Instances(objects)
    before = world(instances.old)["objects"]

    for turn in turns:
        if turn == "old restarts":
            instances.old.restart()
        (instances.new if turn == "new" else instances.old).turn()
    settled(instances.old)
    settled(instances.new)

    assert world(instances.new)["objects"] == before
    assert world(instances.new)["held"] == [f"{FINALIZER}-seed"]
    settled(instances.old)
    assert world(instances.new)["objects"] == before


@given(contents(), contents(), st.permutations(range(4)))
def test_the_order_of_documents_makes_no_difference_to_what_is_applied(
    before: list[Manifest], after: list[Manifest], order: list[int]
) -> None:
    shuffled = [after[place] for place in order if place < len(after)]
    one, other = settled(harness(before)), settled(harness(before))
    one.put(secret(objects=after))
    other.put(secret(objects=shuffled))

    assert world(settled(one))["objects"] == world(settled(other))["objects"]
