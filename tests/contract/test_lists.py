"""Lists: selectors, pages and versions."""

import pytest

from hedgerow.machinery.selectors import field_query
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response
from tests.contract.objects import CONFIG_MAPS, CORE_EVENTS, config_map, key, names, refusal, version
from tests.contract.targets import Send, Target

LABELS: dict[str, dict[str, str]] = {
    "a": {"tier": "web", "zone": "1"},
    "b": {"tier": "web", "zone": "2"},
    "c": {"tier": "data", "zone": "1"},
    "d": {"tier": ""},
    "e": {},
}


@pytest.fixture
def path(send: Send, namespace: str) -> str:
    """The path of five objects with different labels."""
    for name, labels in LABELS.items():
        send(requests.create(CONFIG_MAPS, config_map(name, labels=labels), namespace))
    return requests.collection_path(CONFIG_MAPS, namespace)


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("", "abcde"),
        ("tier=web", "ab"),
        ("tier==web,zone=2", "b"),
        ("tier!=web", "cde"),
        ("tier", "abcd"),
        ("!tier", "e"),
        ("tier in (web, data)", "abc"),
        ("tier notin (web)", "cde"),
        ("tier=", "d"),
        ("zone in (1),tier in (data,none)", "c"),
        ("nothing=here", ""),
    ],
)
def test_a_label_selector_picks_objects(send: Send, path: str, selector: str, expected: str) -> None:
    assert names(send(Request("GET", path, {"labelSelector": selector}))) == list(expected)


@pytest.mark.parametrize("selector", ["tier in web", "=web", "tier=web here", "tier in (a b"])
def test_a_label_selector_that_cannot_be_read_is_refused(send: Send, path: str, selector: str) -> None:
    assert refusal(send(Request("GET", path, {"labelSelector": selector})))[:2] == (400, "BadRequest")


@pytest.mark.parametrize(
    ("selector", "expected"), [("metadata.name=b", "b"), ("metadata.name!=b", "acde"), ("metadata.namespace=other", "")]
)
def test_a_field_selector_picks_by_name(send: Send, path: str, selector: str, expected: str) -> None:
    assert names(send(Request("GET", path, {"fieldSelector": selector}))) == list(expected)


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("spec.x=1", '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"'),
        ("name", "invalid selector: 'name'; can't understand 'name'"),
    ],
)
def test_a_field_selector_for_anything_else_is_refused(send: Send, path: str, selector: str, message: str) -> None:
    assert refusal(send(Request("GET", path, {"fieldSelector": selector}))) == (400, "BadRequest", message)


def test_a_list_says_what_it_is_and_its_items_do_not(send: Send, path: str) -> None:
    listed = send(Request("GET", path, {"labelSelector": "tier=data"})).body

    assert (listed["kind"], listed["apiVersion"]) == ("ConfigMapList", "v1")
    assert [sorted(item) for item in listed["items"]] == [["metadata"]]


def test_a_field_selector_picks_one_object_of_all_namespaces(send: Send, path: str, namespace: str) -> None:
    selector = field_query({"metadata.namespace": namespace, "metadata.name": "b"})

    listed = send(Request("GET", "/api/v1/configmaps", {"fieldSelector": selector}))

    assert [(item["metadata"]["namespace"], item["metadata"]["name"]) for item in listed.body["items"]] == [
        (namespace, "b")
    ]


def test_all_namespaces_are_listed_together(send: Send, path: str, namespace: str) -> None:
    everywhere = send(Request("GET", "/api/v1/configmaps", {"labelSelector": "tier=web"}))
    here = [item for item in everywhere.body["items"] if item["metadata"]["namespace"] == namespace]

    assert [item["metadata"]["name"] for item in here] == ["a", "b"]


def pages(send: Send, path: str, first: Response, **query: str) -> list[list[str]]:
    """The names on all pages."""
    result, page = [names(first)], first
    while token := page.body["metadata"].get("continue"):
        page = send(Request("GET", path, {"limit": "2", "continue": token, **query}))
        assert version(page) == version(first)
        result.append(names(page))
    return result


def test_all_pages_show_the_moment_of_the_first(send: Send, path: str, namespace: str) -> None:
    first = send(Request("GET", path, {"limit": "2"}))
    send(requests.create(CONFIG_MAPS, config_map("bb"), namespace))
    send(requests.delete(CONFIG_MAPS, key(namespace, "d")))

    assert first.body["metadata"]["remainingItemCount"] == 3
    assert pages(send, path, first) == [["a", "b"], ["c", "d"], ["e"]]


def test_pages_are_filled_with_what_a_selector_picks_and_the_last_may_be_empty(send: Send, path: str) -> None:
    first = send(Request("GET", path, {"limit": "2", "labelSelector": "tier"}))

    assert "remainingItemCount" not in first.body["metadata"]
    assert pages(send, path, first, labelSelector="tier") == [["a", "b"], ["c", "d"], []]


def test_a_page_as_long_as_the_list_is_the_last(send: Send, path: str) -> None:
    assert "continue" not in send(Request("GET", path, {"limit": "5"})).body["metadata"]


def test_at_version_zero_the_limit_is_ignored(send: Send, path: str) -> None:
    assert names(send(Request("GET", path, {"limit": "2", "resourceVersion": "0"}))) == list("abcde")


def test_metadata_alone_is_listed_for_who_asks_for_it(send: Send, path: str) -> None:
    listed = send(Request("GET", path, {"limit": "1"}, accept=requests.METADATA_LIST)).body

    assert (listed["kind"], listed["apiVersion"]) == ("PartialObjectMetadataList", "meta.k8s.io/v1")
    (item,) = listed["items"]
    assert (item["kind"], item["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert item["metadata"]["labels"] == LABELS["a"]
    assert listed["metadata"]["continue"]


@pytest.mark.parametrize(
    "query",
    [
        {"limit": "many"},
        {"continue": "garbage"},
        {"resourceVersion": "latest"},
    ],
    ids=["limit", "token", "version"],
)
def test_a_query_that_cannot_be_read_is_refused(send: Send, path: str, query: dict[str, str]) -> None:
    assert refusal(send(Request("GET", path, query)))[:2] == (400, "BadRequest")


def test_a_list_cannot_be_continued_at_another_version(send: Send, path: str) -> None:
    token = send(Request("GET", path, {"limit": "2"})).body["metadata"]["continue"]

    refused = send(Request("GET", path, {"limit": "2", "continue": token, "resourceVersion": "5"}))

    assert refusal(refused)[2] == "specifying resource version is not allowed when using continue"


def test_an_exact_version_is_listed_as_it_was(send: Send, path: str, namespace: str) -> None:
    before = version(send(Request("GET", path)))
    send(requests.delete(CONFIG_MAPS, key(namespace, "a")))

    then = send(Request("GET", path, {"resourceVersion": before, "resourceVersionMatch": "Exact"}))
    now = send(Request("GET", path, {"resourceVersion": before, "resourceVersionMatch": "NotOlderThan"}))

    assert (names(then), version(then)) == (list("abcde"), before)
    assert names(now) == list("bcde")


def test_a_token_expires_with_the_history_and_can_be_continued_inconsistently(
    target: Target, path: str, namespace: str
) -> None:
    first = target.send(Request("GET", path, {"limit": "2"}))
    target.send(requests.create(CONFIG_MAPS, config_map("bb"), namespace))
    target.forget_history()

    refused = target.send(Request("GET", path, {"limit": "2", "continue": first.body["metadata"]["continue"]}))
    assert refusal(refused)[:2] == (410, "Expired")

    rest = target.send(Request("GET", path, {"continue": refused.body["metadata"]["continue"]}))
    assert names(rest) == ["bb", "c", "d", "e"]


def test_a_version_expires_with_the_history(target: Target, path: str) -> None:
    before = version(target.send(Request("GET", path)))
    target.forget_history()

    refused = target.send(Request("GET", path, {"resourceVersion": before, "resourceVersionMatch": "Exact"}))

    assert refusal(refused) == (410, "Expired", "The resourceVersion for the provided list is too old.")


ABOUT_THE_CART = {"involvedObject.apiVersion": "v1", "involvedObject.kind": "Service", "involvedObject.name": "cart"}


@pytest.fixture
def events(send: Send, namespace: str) -> str:
    """The path of Events about different things."""
    for name, kind, about, event_type in (
        ("a", "Service", "cart", "Warning"),
        ("b", "Service", "cart", "Normal"),
        ("c", "Service", "shop", "Warning"),
        ("d", "Pod", "cart", "Warning"),
    ):
        involved = {"apiVersion": "v1", "kind": kind, "namespace": namespace, "name": about}
        event = {"metadata": {"name": name}, "involvedObject": involved, "type": event_type, "reason": f"R,{name}=\\"}
        assert send(requests.create(CORE_EVENTS, event, namespace)).status == 201
    return requests.collection_path(CORE_EVENTS, namespace)


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (field_query({**ABOUT_THE_CART, "type": "Warning"}), "a"),
        ("involvedObject.name=cart,type!=Warning", "b"),
        ("involvedObject.name==shop,", "c"),
        ("metadata.name=d", "d"),
        ("involvedObject.uid=", "abcd"),
        (field_query({"reason": "R,b=\\"}), "b"),
    ],
)
def test_events_are_picked_by_what_they_are_about(send: Send, events: str, selector: str, expected: str) -> None:
    assert names(send(Request("GET", events, {"fieldSelector": selector}))) == list(expected)


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("message=x", "field label not supported: message"),
        ("type", "invalid selector: 'type'; can't understand 'type'"),
    ],
)
def test_events_are_not_picked_by_anything_else(send: Send, events: str, selector: str, message: str) -> None:
    code, reason, text = refusal(send(Request("GET", events, {"fieldSelector": selector})))

    assert (code, reason) == (400, "BadRequest")
    assert text.endswith(message)
