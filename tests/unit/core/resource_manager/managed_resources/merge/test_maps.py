"""Labels and annotations that several write."""

import pytest

from hedgerow.resource_manager.managed_resources.merge.merging import merged_map


@pytest.mark.parametrize(
    ("desired", "current", "previous", "merged"),
    [
        pytest.param(
            {"other": "baz"},
            {"foo": "bar"},
            {"existing": "ignored"},
            {"foo": "bar", "other": "baz"},
            id="M3-1 both stay",
        ),
        pytest.param({"other": "baz"}, {"foo": "bar"}, {"foo": "bar"}, {"other": "baz"}, id="M3-2 dropped goes"),
        pytest.param(
            {"other": "baz"},
            {"foo": "changed"},
            {"foo": "bar"},
            {"foo": "changed", "other": "baz"},
            id="M3-3 dropped but changed stays",
        ),
        pytest.param({"foo": "new"}, {"foo": "bar"}, {"foo": "bar"}, {"foo": "new"}, id="M3-4 desired wins"),
        pytest.param({}, {"foo": "bar"}, {"foo": "bar"}, {}, id="M3-5 nothing is left"),
    ],
)
def test_three_maps_become_one(
    desired: dict[str, str], current: dict[str, str], previous: dict[str, str], merged: dict[str, str]
) -> None:
    assert merged_map(desired, current, previous) == merged
