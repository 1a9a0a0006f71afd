"""Watches: what they begin with, what they show, and when they are too late."""

from dataclasses import replace

from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request
from tests.contract.objects import (
    CONFIG_MAPS,
    NAMESPACES,
    NETWORK_POLICIES,
    config_map,
    happened,
    key,
    policy,
    version,
    watch_from,
)
from tests.contract.targets import Send, Target, Watch


def current(send: Send, namespace: str) -> str:
    """The version at which the ConfigMaps of a namespace are listed."""
    return version(send(Request("GET", requests.collection_path(CONFIG_MAPS, namespace))))


def test_a_watch_shows_what_happened_since_a_version_and_what_happens(target: Target, namespace: str) -> None:
    send = target.send
    send(requests.create(CONFIG_MAPS, config_map("before"), namespace))
    start = current(send, namespace)
    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))
    send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), {"data": {"x": "1"}}))

    with target.watch(watch_from(CONFIG_MAPS, namespace, start)) as watch:
        send(requests.delete(CONFIG_MAPS, key(namespace, "a")))
        send(requests.create(CONFIG_MAPS, config_map("end"), namespace))

        assert happened(watch, "end") == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


def test_other_namespaces_are_not_shown_in_the_watch_of_one(target: Target, namespace: str) -> None:
    start = current(target.send, namespace)

    with target.watch(watch_from(CONFIG_MAPS, namespace, start)) as watch:
        target.send(requests.create(CONFIG_MAPS, config_map(f"{namespace}-elsewhere"), "default"))
        target.send(requests.create(CONFIG_MAPS, config_map("end"), namespace))

        assert happened(watch, "end") == []


def test_what_changes_nothing_is_not_shown(target: Target, namespace: str) -> None:
    start = version(target.send(requests.create(NETWORK_POLICIES, policy("p"), namespace)))

    with target.watch(watch_from(NETWORK_POLICIES, namespace, start)) as watch:
        target.send(requests.update(NETWORK_POLICIES, key(namespace, "p"), policy("p")))
        target.send(requests.create(NETWORK_POLICIES, policy("end"), namespace))

        assert happened(watch, "end") == []


def test_an_event_holds_the_object_as_it_was_answered(target: Target, namespace: str) -> None:
    start = current(target.send, namespace)
    created = target.send(requests.create(CONFIG_MAPS, config_map("a", {"x": "1"}), namespace))

    with target.watch(watch_from(CONFIG_MAPS, namespace, start)) as watch:
        assert watch.next() == {"type": "ADDED", "object": created.body}


def test_a_deleted_object_is_shown_as_it_was_with_the_version_of_its_deletion(target: Target, namespace: str) -> None:
    created = target.send(requests.create(CONFIG_MAPS, config_map("a", {"x": "1"}), namespace))

    with target.watch(watch_from(CONFIG_MAPS, namespace, version(created))) as watch:
        target.send(requests.delete(CONFIG_MAPS, key(namespace, "a")))
        event = watch.next()

    assert event is not None
    assert event["type"] == "DELETED"
    gone = event["object"]
    assert int(gone["metadata"]["resourceVersion"]) > int(version(created))
    assert {**gone["metadata"], "resourceVersion": version(created)} == created.body["metadata"]
    assert gone["data"] == {"x": "1"}


def test_a_finalizer_shows_the_mark_before_the_end(target: Target, namespace: str) -> None:
    held = config_map("a", finalizers=["hedgerow.dev/hold"])
    start = version(target.send(requests.create(CONFIG_MAPS, held, namespace)))
    target.send(requests.delete(CONFIG_MAPS, key(namespace, "a")))
    target.send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), {"metadata": {"finalizers": None}}))

    with target.watch(watch_from(CONFIG_MAPS, namespace, start)) as watch:
        events = [watch.next(), watch.next()]

    assert [event and event["type"] for event in events] == ["MODIFIED", "DELETED"]
    for event in events:
        assert event is not None
        assert event["object"]["metadata"]["deletionTimestamp"]
        assert event["object"]["metadata"]["finalizers"] == ["hedgerow.dev/hold"]


def test_objects_appear_and_disappear_as_a_selector_begins_and_ceases_to_match(target: Target, namespace: str) -> None:
    send = target.send
    start = current(send, namespace)

    with target.watch(watch_from(CONFIG_MAPS, namespace, start, selector="colour=red")) as watch:
        send(requests.create(CONFIG_MAPS, config_map("never", labels={"colour": "blue"}), namespace))
        send(requests.create(CONFIG_MAPS, config_map("a", labels={"colour": "blue"}), namespace))
        for colour in ("red", "red", "blue", "blue", "red"):
            patch = {"metadata": {"labels": {"colour": colour}}, "data": {"x": f"{colour} again"}}
            send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), patch))
        send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), {"data": {"x": "still red"}}))
        send(requests.delete(CONFIG_MAPS, key(namespace, "a")))
        send(requests.delete(CONFIG_MAPS, key(namespace, "never")))
        send(requests.create(CONFIG_MAPS, config_map("end", labels={"colour": "red"}), namespace))

        assert happened(watch, "end") == [
            ("ADDED", "a"),
            ("DELETED", "a"),
            ("ADDED", "a"),
            ("MODIFIED", "a"),
            ("DELETED", "a"),
        ]


def test_what_ceases_to_match_is_shown_as_it_last_matched(target: Target, namespace: str) -> None:
    created = target.send(requests.create(CONFIG_MAPS, config_map("a", labels={"colour": "red"}), namespace))
    blue = target.send(
        requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), {"metadata": {"labels": {"colour": "blue"}}})
    )

    request = watch_from(CONFIG_MAPS, namespace, version(created), selector="colour=red")
    with target.watch(request) as watch:
        event = watch.next()

    assert event is not None
    assert event["object"]["metadata"] == {**created.body["metadata"], "resourceVersion": version(blue)}


def test_without_a_version_a_watch_begins_with_all_that_exists(target: Target, namespace: str) -> None:
    for name in ("b", "a"):
        target.send(requests.create(CONFIG_MAPS, config_map(name), namespace))

    for start in ("", "0"):
        with target.watch(watch_from(CONFIG_MAPS, namespace, start)) as watch:
            target.send(requests.create(CONFIG_MAPS, config_map(f"end{start}"), namespace))

            assert happened(watch, f"end{start}")[:2] == [("ADDED", "a"), ("ADDED", "b")]


def test_a_bookmark_ends_the_beginning_for_who_wants_bookmarks(target: Target, namespace: str) -> None:
    target.send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    request = requests.watch(CONFIG_MAPS, resource_version="0", timeout_seconds=30, namespace=namespace)
    with target.watch(request) as watch:
        events = [watch.next(), watch.next()]

    assert [event and event["type"] for event in events] == ["ADDED", "BOOKMARK"]
    bookmark = events[1]
    assert bookmark is not None
    assert bookmark["object"]["metadata"].pop("resourceVersion")
    assert bookmark["object"] == {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"annotations": {"k8s.io/initial-events-end": "true"}},
    }


def test_a_bookmark_tells_a_version_from_which_nothing_is_missed(target: Target, namespace: str) -> None:
    start = version(target.send(requests.create(CONFIG_MAPS, config_map("a"), namespace)))

    request = requests.watch(CONFIG_MAPS, resource_version=start, timeout_seconds=4, namespace=namespace)
    with target.watch(request) as watch:
        target.send(requests.create(CONFIG_MAPS, config_map(f"{namespace}-elsewhere"), "default"))
        target.make_bookmarks_due()
        event = watch.next()

    assert event is not None
    assert event["type"] == "BOOKMARK"
    assert set(event["object"]) == {"kind", "apiVersion", "metadata"}
    assert set(event["object"]["metadata"]) == {"resourceVersion"}
    assert int(event["object"]["metadata"]["resourceVersion"]) >= int(start)


def test_metadata_alone_is_watched_by_who_asks_for_it(target: Target, namespace: str) -> None:
    start = current(target.send, namespace)
    created = target.send(requests.create(CONFIG_MAPS, config_map("a", {"x": "1"}), namespace))

    request = replace(watch_from(CONFIG_MAPS, namespace, start), accept=requests.METADATA)
    with target.watch(request) as watch:
        assert watch.next() == {
            "type": "ADDED",
            "object": {
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": created.body["metadata"],
            },
        }


def test_a_version_that_is_forgotten_ends_the_watch_with_an_error(target: Target, namespace: str) -> None:
    start = current(target.send, namespace)
    target.send(requests.create(CONFIG_MAPS, config_map("a"), namespace))
    target.forget_history()

    with target.watch(watch_from(CONFIG_MAPS, namespace, start)) as watch:
        event = watch.next()
        end = watch.next()

    assert event is not None
    assert event["type"] == "ERROR"
    status = event["object"]
    assert (status["kind"], status["code"], status["reason"]) == ("Status", 410, "Expired")
    assert status["message"].startswith(f"too old resource version: {start} (")
    assert end is None


def test_after_a_fresh_list_a_watch_goes_on(target: Target, namespace: str) -> None:
    target.forget_history()
    start = current(target.send, namespace)

    with target.watch(watch_from(CONFIG_MAPS, namespace, start)) as watch:
        target.send(requests.create(CONFIG_MAPS, config_map("a"), namespace))
        target.send(requests.create(CONFIG_MAPS, config_map("end"), namespace))

        assert happened(watch, "end") == [("ADDED", "a")]


def test_one_namespace_can_be_listed_and_watched_by_its_name(target: Target, namespace: str) -> None:
    send = target.send
    listed = send(requests.list_page(NAMESPACES, name=namespace, metadata_only=True))
    request = requests.watch(
        NAMESPACES, resource_version=version(listed), timeout_seconds=30, name=namespace, metadata_only=True
    )

    with target.watch(request) as watch:
        send(requests.create(NAMESPACES, {"metadata": {"name": f"{namespace}-other"}}))
        send(requests.merge_patch(NAMESPACES, key("", namespace), {"metadata": {"labels": {"colour": "red"}}}))
        event = watch.next()

    assert [item["metadata"]["name"] for item in listed.body["items"]] == [namespace]
    assert event is not None
    assert (event["type"], event["object"]["metadata"]["name"]) == ("MODIFIED", namespace)


def test_after_a_restore_a_watch_from_the_future_is_silent_and_a_list_tells_the_past(
    target: Target, namespace: str
) -> None:
    send = target.send
    send(requests.create(CONFIG_MAPS, config_map("kept"), namespace))
    future: list[str] = []

    def writes() -> None:
        for number in range(100):
            send(requests.create(CONFIG_MAPS, config_map(f"lost-{number}"), namespace))
        future.append(current(send, namespace))

    target.undo(writes)

    answer = send(requests.list_page(CONFIG_MAPS, namespace=namespace, limit=1, metadata_only=True))
    assert int(version(answer)) < int(future[0])
    with target.watch(watch_from(CONFIG_MAPS, namespace, future[0], seconds=3)) as watch:
        send(requests.create(CONFIG_MAPS, config_map("unseen"), namespace))
        assert is_silent(watch)
    send(requests.delete(CONFIG_MAPS, key(namespace, "unseen")))


def is_silent(watch: Watch) -> bool:
    """Whether no event comes until the server ends the watch."""
    try:
        return watch.next() is None
    except (TimeoutError, IndexError):
        return True
