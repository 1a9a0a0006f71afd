"""What tools that work with ManagedResources are offered."""

from types import ModuleType

import pytest

from hedgerow.resource_manager import managed_resources
from hedgerow.resource_manager.managed_resources.merge import Instructions, merge


@pytest.mark.parametrize("name", managed_resources.__all__)
def test_what_is_exported_is_there_and_is_no_module(name: str) -> None:
    assert not isinstance(getattr(managed_resources, name), ModuleType)


def test_an_object_is_merged_by_what_is_exported_alone() -> None:
    instructions = managed_resources.Instructions(origin="shop/a")
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}

    assert managed_resources.Instructions is Instructions
    assert isinstance(
        managed_resources.application(config_map, None, instructions).unwrap(), managed_resources.CreateObject
    )
    assert merge(config_map, None, instructions).unwrap()["metadata"]["name"] == "a"
