"""Labels and annotations that several write."""

import pytest

from hedgerow.resource_manager.managed_resources.merge.maps import merged_map


@pytest.mark.parametrize(
    ("desired", "current", "previous", "merged"),
    [
        pytest.param(
            {"other": "baz"}, {"foo": "bar"}, {"existing": "ignored"}, {"foo": "bar", "other": "baz"}, id="both stay"
        ),
        pytest.param({"other": "baz"}, {"foo": "bar"}, {"foo": "bar"}, {"other": "baz"}, id="dropped goes"),
        pytest.param(
            {"other": "baz"},
            {"foo": "changed"},
            {"foo": "bar"},
            {"foo": "changed", "other": "baz"},
            id="dropped but changed stays",
        ),
        pytest.param({"foo": "new"}, {"foo": "bar"}, {"foo": "bar"}, {"foo": "new"}, id="desired wins"),
        pytest.param({}, {"foo": "bar"}, {"foo": "bar"}, {}, id="nothing is left"),
    ],
)
def test_three_maps_become_one(
    desired: dict[str, str], current: dict[str, str], previous: dict[str, str], merged: dict[str, str]
) -> None:
    assert merged_map(desired, current, previous) == merged
