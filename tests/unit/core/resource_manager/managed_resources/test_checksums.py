"""The checksum of what a ManagedResource applies."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.documents.budget import finished
from hedgerow.resource_manager.managed_resources import decoding
from hedgerow.resource_manager.managed_resources.decoding import Checksum

VALUES = st.lists(st.sampled_from([b"", b"a", b"b", b"ab"]))


@given(VALUES, st.integers(1, 9))
def test_it_is_that_of_all_values_one_after_the_other(values: list[bytes], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "SLICE", size)
        assert finished(Checksum(iter(values)).computed()) == hashlib.sha256(b"".join(values)).hexdigest()


def test_it_is_computed_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "SLICE", 8)

    assert len([*Checksum([b"abcd"] * 5).computed()]) == 2
    assert Checksum([b"abcd"] * 5).computed_at_once() is None
    assert Checksum([b"abcd"]).computed_at_once() == hashlib.sha256(b"abcd").hexdigest()


@given(VALUES, VALUES)
def test_only_equal_values_have_the_same_key(one: list[bytes], other: list[bytes]) -> None:
    assert (Checksum(one).key == Checksum(other).key) is (one == other)
