"""In which order webhooks are called, and which of them twice."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from hedgerow.admission import creation
from hedgerow.admission.registration import Rule
from hedgerow.api.kubernetes import PODS
from hedgerow.machinery.selectors import LabelSelector
from hedgerow_adapters.registrations.dispatch import Attributes, Progress, validating_calls
from hedgerow_adapters.registrations.registered import Client, Entry, Registrations

ANYTHING = Rule(("*",), ("*",), ("*",), ("*",))
POD = {"metadata": {"name": "p", "namespace": "shop"}}
LETTERS = "abcdef"
REQUEST = Attributes(creation(PODS, POD), {})


def webhook(name: str, *, repeated: bool = False, selected_by: str = "") -> Entry:
    selector = LabelSelector(((selected_by, "true"),)) if selected_by else LabelSelector()
    return Entry("c", name, Client("h", "/"), (ANYTHING,), object_selector=selector, is_repeated=repeated)


def names_called(*entries: Entry, changes: dict[str, int]) -> str:
    """The names in the order of their calls; each webhook changes the object so many times as `changes` says."""
    progress, attributes, called, left = Progress(entries), REQUEST, "", dict(changes)
    while step := progress.next_call(attributes):
        call, progress = step
        name = call.entry.name
        called += name
        if left.get(name):
            left[name] -= 1
            labels = dict.fromkeys(called, "true")
            attributes = attributes.with_object({"metadata": {**POD["metadata"], "labels": labels}})
            progress = progress.after_change()
    return called


def test_mutating_webhooks_are_called_in_the_order_of_their_list() -> None:
    assert names_called(webhook("a"), webhook("b"), webhook("c"), changes={"a": 1, "c": 1}) == "abc"


def test_each_sees_what_the_ones_before_it_made_of_the_object() -> None:
    assert names_called(webhook("a"), webhook("b", selected_by="a"), changes={"a": 1}) == "ab"
    assert names_called(webhook("a"), webhook("b", selected_by="a"), changes={}) == "a"


def test_a_webhook_is_called_again_if_one_after_it_changed_something() -> None:
    again = webhook("a", repeated=True)

    assert names_called(again, webhook("b"), changes={"b": 1}) == "aba"
    assert names_called(again, webhook("b"), changes={}) == "ab"
    assert names_called(webhook("a"), webhook("b"), changes={"b": 1}) == "ab"


def test_its_own_change_does_not_call_a_webhook_again() -> None:
    assert names_called(webhook("a", repeated=True), webhook("b"), changes={"a": 1}) == "ab"
    assert names_called(webhook("a"), webhook("b", repeated=True), changes={"a": 1}) == "ab"


def test_there_is_no_third_round() -> None:
    entries = webhook("a", repeated=True), webhook("b", repeated=True)

    assert names_called(*entries, changes={"a": 9, "b": 9}) == "abab"


def test_a_change_in_the_second_round_calls_those_again_that_did_not_see_it() -> None:
    entries = webhook("a", repeated=True), webhook("b", repeated=True)

    assert names_called(*entries, changes={"a": 2, "b": 1}) == "abab"
    assert names_called(*entries, changes={"a": 1, "b": 1}) == "aba"


def test_the_second_round_calls_nothing_for_the_first_time() -> None:
    entries = webhook("a", repeated=True, selected_by="c"), webhook("b", repeated=True), webhook("c")

    assert names_called(*entries, changes={"c": 1}) == "bcb"


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2)), max_size=6))
def test_called_again_is_who_asks_for_it_and_has_not_seen_the_last_change_of_another(
    shape: list[tuple[bool, int]],
) -> None:
    entries = {
        letter: webhook(letter, repeated=repeated) for letter, (repeated, _) in zip(LETTERS, shape, strict=False)
    }
    changes = {letter: number for letter, (_, number) in zip(LETTERS, shape, strict=False)}
    first = list(entries)
    last_change = max((place for place, name in enumerate(first) if changes[name]), default=-1)
    second: list[str] = []
    for place, name in enumerate(first):
        changed_since = place < last_change or any(changes[before] > 1 for before in second)
        if entries[name].is_repeated and changed_since:
            second.append(name)

    assert list(names_called(*entries.values(), changes=changes)) == first + second


def test_validating_webhooks_are_those_whose_business_the_request_is() -> None:
    entries = webhook("a"), webhook("b", selected_by="nothing"), replace(webhook("c"), rules=()), webhook("d")
    registered = Registrations(validating_entries=entries)

    assert [call.entry.name for call in validating_calls(registered, REQUEST)] == ["a", "d"]
