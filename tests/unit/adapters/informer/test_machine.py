"""Every state of a list-and-watch against every answer of the server."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.informer.machine import (
    Delivery,
    Empty,
    Gather,
    Input,
    Listed,
    Listing,
    Page,
    ProtocolError,
    Put,
    Remove,
    Replace,
    Signal,
    State,
    WatchEvent,
    Watching,
    advance,
)


def named(name: str, version: str = "7") -> Manifest:
    return {"metadata": {"name": name, "resourceVersion": version}}


def event(kind: str, manifest: Manifest) -> WatchEvent:
    """The event of an object of which all is kept."""
    return WatchEvent(kind, manifest, manifest["metadata"].get("resourceVersion"))


A, B, C = named("a"), named("b"), named("c")
FIRST, LAST = Page((A,), "token-1", "5"), Page((B, C), "", "6")
LISTING = Listing("token-1")
LISTED, WATCHING = Listed("5"), Watching("5")
UNKNOWN = Replace((), is_known=False)


@pytest.mark.parametrize(
    ("state", "received", "after", "delivery"),
    [
        pytest.param(Empty(), FIRST, LISTING, Gather((A,), is_first=True), id="the first of several pages is kept"),
        pytest.param(
            LISTING,
            Page((B,), "token-2", "5"),
            Listing("token-2"),
            Gather((B,), is_first=False),
            id="a further one beside it",
        ),
        pytest.param(LISTING, LAST, Listed("6"), Replace((B, C), is_first=False), id="the last page makes them count"),
        pytest.param(Empty(), LAST, Listed("6"), Replace((B, C)), id="a single page is a whole list"),
        pytest.param(Empty(), Page((), "", "6"), Listed("6"), Replace(()), id="an empty list is a list"),
        pytest.param(LISTED, Signal.OPENED, WATCHING, None, id="the watch opens"),
        pytest.param(WATCHING, event("ADDED", A), Watching("7"), Put(A), id="added"),
        pytest.param(WATCHING, event("MODIFIED", A), Watching("7"), Put(A), id="modified"),
        pytest.param(WATCHING, event("DELETED", A), Watching("7"), Remove(A), id="deleted"),
        pytest.param(WATCHING, event("BOOKMARK", named("", "9")), Watching("9"), None, id="a bookmark moves on"),
        pytest.param(WATCHING, event("BOOKMARK", named("", "5")), WATCHING, None, id="or stays"),
        pytest.param(
            Watching("9"), event("ADDED", named("a", "10")), Watching("10"), Put(named("a", "10")), id="as numbers"
        ),
        pytest.param(Watching("b"), event("ADDED", A), Watching("7"), Put(A), id="versions that are no numbers"),
        pytest.param(WATCHING, Signal.INTERRUPTED, LISTED, None, id="a watch that ends resumes where it was"),
        pytest.param(Empty(), Signal.INTERRUPTED, Empty(), None, id="a first page that fails is asked for again"),
        pytest.param(LISTING, Signal.INTERRUPTED, LISTING, None, id="a later page that fails is asked for again"),
        pytest.param(LISTED, Signal.INTERRUPTED, LISTED, None, id="a watch that does not open is tried again"),
        pytest.param(Empty(), Signal.LOST, Empty(), None, id="lost before anything is known"),
        pytest.param(LISTING, Signal.LOST, Empty(), None, id="a token that has expired starts anew"),
        pytest.param(LISTED, Signal.LOST, Empty(), None, id="a version that has expired starts anew"),
        pytest.param(WATCHING, Signal.LOST, Empty(), None, id="as it does in an open watch"),
        pytest.param(Empty(), Signal.ABSENT, Empty(), UNKNOWN, id="what the server does not know has no objects"),
        pytest.param(LISTING, Signal.ABSENT, Empty(), UNKNOWN, id="nor has it in the middle of a list"),
        pytest.param(LISTED, Signal.ABSENT, Empty(), UNKNOWN, id="what the server forgets is gone with its objects"),
        pytest.param(WATCHING, Signal.ABSENT, Empty(), UNKNOWN, id="as it is in an open watch"),
    ],
)
def test_an_answer_leads_to_the_next_state(
    state: State, received: Input, after: State, delivery: Delivery | None
) -> None:
    assert advance(state, received) == (after, delivery)


@pytest.mark.parametrize(
    ("state", "received", "problem"),
    [
        (Empty(), Signal.OPENED, "Opened is not expected while Empty"),
        (Empty(), event("ADDED", A), "WatchEvent is not expected while Empty"),
        (LISTING, Signal.OPENED, "Opened is not expected while Listing"),
        (LISTING, event("ADDED", A), "WatchEvent is not expected while Listing"),
        (LISTED, FIRST, "Page is not expected while Listed"),
        (LISTED, event("ADDED", A), "WatchEvent is not expected while Listed"),
        (WATCHING, FIRST, "Page is not expected while Watching"),
        (WATCHING, Signal.OPENED, "Opened is not expected while Watching"),
        (WATCHING, event("CHANGED", A), "an event of the unknown type CHANGED"),
        (WATCHING, event("ADDED", named("a", "4")), "an event of version 4 after version 5: the past has changed"),
        (
            WATCHING,
            event("BOOKMARK", named("", "4")),
            "an event of version 4 after version 5: the past has changed",
        ),
        (WATCHING, event("ADDED", {"metadata": {}}), "an event of type ADDED without a resource version"),
        (WATCHING, event("BOOKMARK", named("", "")), "an event of type BOOKMARK without a resource version"),
        (Empty(), Page((A,), "", ""), "a list without a resource version"),
        (LISTING, Page((B,), "token-1", "5"), "a list whose next page is the same again"),
    ],
)
def test_an_answer_out_of_place_is_an_error(state: State, received: Input, problem: str) -> None:
    with pytest.raises(ProtocolError, match=f"^{problem}$"):
        advance(state, received)


@given(st.lists(st.lists(st.integers(), max_size=4), min_size=1, max_size=6))
def test_only_the_last_page_replaces_and_together_the_pages_are_all_objects_in_order(pages: list[list[int]]) -> None:
    state: State = Empty()
    delivered: list[Any] = []
    for position, numbers in enumerate(pages):
        token = f"token-{position}" if position < len(pages) - 1 else ""
        objects = tuple({"number": number} for number in numbers)
        state, delivery = advance(state, Page(objects, token, "3"))
        delivered.append(delivery)

    assert [type(each) for each in delivered] == [Gather] * (len(pages) - 1) + [Replace]
    assert [each.is_first for each in delivered] == [True] + [False] * (len(pages) - 1)
    assert [each["number"] for delivery in delivered for each in delivery.objects] == [
        n for page in pages for n in page
    ]
    assert state == Listed("3")
