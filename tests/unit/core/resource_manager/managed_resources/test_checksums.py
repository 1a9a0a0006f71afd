"""The checksum of what a ManagedResource applies."""

import hashlib
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.resource_manager.managed_resources import checksums
from hedgerow.resource_manager.managed_resources.checksums import Checksum


def portions(values: Iterable[bytes], size: int) -> list[str | None]:
    """What is known after each portion, up to the checksum."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checksums, "PORTION", size)
        checksum = Checksum(values)
        found = [checksum.after_a_portion()]
        while found[-1] is None:
            found.append(checksum.after_a_portion())
        assert checksum.after_a_portion() == found[-1]
    return found


@given(st.lists(st.sampled_from([b"", b"a", b"b", b"ab"])), st.integers(1, 9))
def test_it_is_that_of_all_values_one_after_the_other(values: list[bytes], size: int) -> None:
    expected = hashlib.sha256(b"".join(values)).hexdigest()

    assert [portions(values, size)[-1], portions(iter(values), size)] == [expected, [expected]]


def test_no_portion_is_larger_than_it_has_to_be() -> None:
    assert portions([b"abcd"] * 5, size=8)[:2] == [None, None]


def test_no_more_are_kept_than_the_latest() -> None:
    for number in range(checksums.MOST + 10):
        Checksum([str(number).encode()]).after_a_portion()

    assert len(checksums._KNOWN._kept) == checksums.MOST
