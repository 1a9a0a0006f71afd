"""In which order objects are applied."""

import random

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.desired import INSTALL_ORDER, install_place


def manifest(kind: str, name: str = "", namespace: str = "") -> Manifest:
    return {"kind": kind, "metadata": {"name": name, "namespace": namespace}}


def test_kinds_come_in_the_install_order_and_unknown_ones_last_by_kind() -> None:
    wanted = [manifest(kind) for kind in (*INSTALL_ORDER, "Alpha", "Beta")]
    shuffled = random.Random(7).sample(wanted, k=len(wanted))  # noqa: S311 -- any shuffle will do

    assert sorted(shuffled, key=install_place) == wanted


def test_definitions_come_before_their_objects_and_services_before_workloads() -> None:
    kinds = ["Thing", "StatefulSet", "Deployment", "Service", "CustomResourceDefinition", "Namespace"]

    assert [each["kind"] for each in sorted(map(manifest, kinds), key=install_place)] == kinds[::-1]


def test_one_kind_comes_by_name_then_by_namespace() -> None:
    objects = [manifest("Pod", "b", "a"), manifest("Pod", "a", "c"), manifest("Pod", "a", "b")]

    assert sorted(objects, key=install_place) == objects[::-1]
