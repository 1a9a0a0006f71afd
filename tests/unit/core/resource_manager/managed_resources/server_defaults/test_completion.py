"""What an object would look like once it is stored."""

from hypothesis import given
from hypothesis import strategies as st

from hedgerow.resource_manager.managed_resources.server_defaults.differences import completed, differences
from hedgerow.resource_manager.managed_resources.server_defaults.kinds import storage_rule

WANTED = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "cart"},
    "spec": {"ports": [{"targetPort": 8080, "port": 81}], "selector": {"app": "cart"}},
}
LIVE = {
    "kind": "Service",
    "apiVersion": "v1",
    "metadata": {"name": "cart", "labels": {"somebody": "else"}},
    "spec": {"type": "ClusterIP", "ports": [{"port": 80, "protocol": "TCP", "targetPort": 8080}], "selector": {}},
}


def test_what_the_server_has_filled_in_is_filled_in_again_and_drift_is_not() -> None:
    after = completed(WANTED, LIVE, storage_rule(WANTED))

    assert after["spec"]["type"] == "ClusterIP"
    assert after["spec"]["ports"] == [{"port": 81, "protocol": "TCP", "targetPort": 8080}]
    assert after["spec"]["selector"] == {"app": "cart"}
    assert "labels" not in after["metadata"]


def test_members_are_in_the_order_of_the_live_object() -> None:
    after = completed(WANTED, LIVE, storage_rule(WANTED))

    assert list(after)[:2] == ["kind", "apiVersion"]
    assert list(after["spec"]["ports"][0]) == ["port", "protocol", "targetPort"]


OBJECTS = st.recursive(
    st.integers(0, 2) | st.sampled_from(["", "a"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
MANIFESTS = st.dictionaries(st.sampled_from("abc"), OBJECTS, max_size=3)


@given(MANIFESTS, MANIFESTS)
def test_what_is_completed_means_what_was_wanted(wanted: dict[str, object], live: dict[str, object]) -> None:
    assert differences(wanted, completed(wanted, live)) == ()
