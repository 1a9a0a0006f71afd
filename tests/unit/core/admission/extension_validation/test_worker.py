"""Which resources of machines are counted."""

import pytest

from hedgerow.admission.extension_validation.rules import is_counted


@pytest.mark.parametrize("resource", ["pods", "services.nodeports", "nvidia.com/gpu", "example.com/a-b"])
def test_objects_and_devices_are_counted(resource: str) -> None:
    assert is_counted(resource)


@pytest.mark.parametrize(
    "resource",
    [
        "cpu",
        "memory",
        "gpu",
        "hugepages-2Mi",
        "kubernetes.io/batch",
        "attachable.kubernetes.io/volumes",
        "requests.nvidia.com/gpu",
        "Nvidia.com/gpu",
        "a/b/c",
    ],
)
def test_everything_else_is_measured(resource: str) -> None:
    assert not is_counted(resource)
