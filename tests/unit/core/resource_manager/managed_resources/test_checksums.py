"""The checksum of what a ManagedResource applies."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from hedgerow.resource_manager.managed_resources import checksums
from hedgerow.resource_manager.managed_resources.checksums import checksum


@given(st.lists(st.sampled_from([b"", b"a", b"b", b"ab"])))
def test_it_is_that_of_all_values_one_after_the_other(values: list[bytes]) -> None:
    expected = hashlib.sha256(b"".join(values)).hexdigest()

    assert [checksum(values), checksum(iter(values))] == [expected, expected]


def test_no_more_are_kept_than_the_latest() -> None:
    for number in range(checksums.MOST + 10):
        checksum([str(number).encode()])

    assert len(checksums._CHECKSUMS._known) == checksums.MOST
