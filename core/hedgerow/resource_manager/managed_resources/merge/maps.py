"""What becomes of labels and annotations that several write: the manifest, people, and other controllers.

Source: managed-resources §8.2.
"""

from collections.abc import Mapping


def merged_map(desired: Mapping[str, str], current: Mapping[str, str], previous: Mapping[str, str]) -> dict[str, str]:
    """What there is, overlaid with what is desired, without what the manifest once set and has dropped.

    A value that somebody changed since it was set stays, even though the manifest has dropped it.

    Args:
        desired: what the manifest says.
        current: what stands at the live object.
        previous: what the manifest said when it was applied last.
    """
    dropped = (key for key, value in previous.items() if key not in desired and current.get(key) == value)
    merged = {**current, **desired}
    for key in dropped:
        merged.pop(key, None)
    return merged
