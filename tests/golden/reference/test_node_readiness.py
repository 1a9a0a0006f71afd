"""Nodes that may have pods, and nodes that may not yet, against what the reference made of their taints."""

from collections.abc import Mapping
from typing import Any

import pytest

from hedgerow.api.gardener import CRITICAL_COMPONENTS_NOT_READY
from hedgerow.api.kubernetes import CSI_NODES, DAEMON_SETS, NODES, PODS
from hedgerow.machinery.objects import Kind, Manifest, key_of
from hedgerow.resource_manager.nodes import node_controller
from tests.golden.reference.recordings import cases
from tests.unit.core.resource_manager.turns import Clusters, take_turn


@pytest.mark.parametrize("recording", [*cases("node-readiness.jsonl")])
def test_the_same_nodes_lose_the_taint(recording: Mapping[str, Any]) -> None:
    node = recording["node"]
    objects = {
        resource: [each for each in recording["objects"] if Kind.of(each) == resource.object_kind]
        for resource in (DAEMON_SETS, PODS, CSI_NODES)
    }
    clusters = Clusters.of(target={NODES: [node], **objects})

    take_turn(clusters, node_controller(), key_of(node))

    is_removed = is_tainted(node) and not is_tainted(clusters.target[NODES][key_of(node)])
    assert is_removed is recording["taintRemoved"]


def is_tainted(node: Manifest) -> bool:
    return any(taint["key"] == CRITICAL_COMPONENTS_NOT_READY for taint in node["spec"].get("taints") or ())
