"""Laws that hold for every node, whatever there is on it."""

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.api.kubernetes import NODES
from hedgerow.machinery.objects import Manifest, key_of
from tests.unit.core.resource_manager.nodes.surroundings import (
    CRITICAL,
    EVERYTHING,
    NODE,
    ONLY_THE_TAINT,
    TAINT,
    affinity,
    cluster,
    csi_node,
    daemon_set,
    label_term,
    name_term,
    node,
    pod,
    taint,
    taints_of,
    told,
    turn,
)
from tests.unit.orders import ORDERS

EFFECTS = st.sampled_from(("NoSchedule", "NoExecute", "PreferNoSchedule"))
TAINTS = st.lists(st.builds(taint, st.sampled_from((TAINT, "a", "b")), EFFECTS), min_size=1, max_size=4)
LABELS = st.sampled_from((CRITICAL, {}))
NAMES = st.sampled_from("abcd")
SPACES = st.sampled_from(("default", "kube-system"))
TERMS = st.sampled_from((label_term("n", "Gt", "4"), name_term("In", "node-1"), name_term("In", "node-2"), {}))
POD_SPECS = st.fixed_dictionaries({}, optional={"affinity": st.lists(TERMS, max_size=2).map(lambda t: affinity(*t))})
DAEMON_SETS = st.lists(
    st.builds(
        lambda name, space, labels, tolerations, spec: daemon_set(
            name, space, template_labels=labels, tolerations=tolerations, **spec
        ),
        NAMES,
        SPACES,
        LABELS,
        st.sampled_from((EVERYTHING, ONLY_THE_TAINT, ())),
        POD_SPECS,
    ),
    max_size=3,
    unique_by=key_of,
)
DRIVERS = st.sampled_from(("foo", "bar"))
READY = st.sampled_from((True, True, False, None))


@st.composite
def surroundings(draw: st.DrawFn) -> tuple[Manifest, list[Manifest], list[Manifest]]:
    """A node; DaemonSets, and pods of these and of nobody; CSINodes."""
    daemon_sets = draw(DAEMON_SETS)
    owners: list[Any] = [None, *daemon_sets]
    pods = [
        pod(name, draw(st.sampled_from(owners)), ready=draw(READY), csi=draw(st.dictionaries(NAMES, DRIVERS)))
        for name in draw(st.lists(NAMES, unique=True))
    ]
    csi_nodes: list[Manifest] = draw(st.lists(st.builds(csi_node, DRIVERS, DRIVERS), max_size=1))
    return node(*draw(TAINTS), labels={"n": "5"}), [*daemon_sets, *pods], csi_nodes


@settings(max_examples=50)
@given(surroundings())
def test_nothing_is_changed_but_the_taint_and_that_only_once(
    world: tuple[Manifest, list[Manifest], list[Manifest]],
) -> None:
    before, objects, csi_nodes = world
    clusters = cluster(*objects, nodes=[before], csi_nodes=csi_nodes)
    untouched = {resource: dict(stored) for resource, stored in clusters.target.items() if resource != NODES}

    course = turn(clusters)

    after = clusters.target[NODES][NODE]
    others = [each for each in before["spec"]["taints"] if each["key"] != TAINT]
    is_removed = TAINT not in taints_of(clusters)
    assert (after["spec"].get("taints") or []) == (others if is_removed else before["spec"]["taints"])
    assert after["metadata"] == before["metadata"]
    assert all(clusters.target[resource] == stored for resource, stored in untouched.items())
    assert not course.actions or not turn(clusters).actions


@settings(max_examples=50)
@given(surroundings())
def test_a_node_loses_the_taint_exactly_where_no_warning_says_what_it_waits_for(
    world: tuple[Manifest, list[Manifest], list[Manifest]],
) -> None:
    before, objects, csi_nodes = world
    clusters = cluster(*objects, nodes=[before], csi_nodes=csi_nodes)
    waited = TAINT in taints_of(clusters)

    course = turn(clusters)

    warnings = [event for event in told(course) if event[0] == "Warning"]
    assert len(told(course)) == waited
    assert bool(warnings) is (course.end.requeue_after is not None) is (TAINT in taints_of(clusters))


@settings(max_examples=50)
@given(surroundings(), ORDERS)
def test_the_order_of_what_is_found_does_not_matter(
    world: tuple[Manifest, list[Manifest], list[Manifest]], numbers: random.Random
) -> None:
    before, objects, csi_nodes = world
    shuffled = numbers.sample(objects, len(objects))

    one, other = (turn(cluster(*each, nodes=[before], csi_nodes=csi_nodes)) for each in (objects, shuffled))

    assert (one.end, one.questions) == (other.end, other.questions)
