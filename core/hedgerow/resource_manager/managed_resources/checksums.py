"""The checksum of what a ManagedResource applies: of every value of its Secrets, as often as it holds an object.

That may be a lot to read: a value of 1 MiB that holds 2 000 objects counts as 2 GB. So it is read in slices, and only
if the values have changed, which their key tells.

Source: managed-resources §7.6.
"""

import hashlib
from collections.abc import Iterable
from itertools import groupby
from typing import Final

from hedgerow.machinery.documents.budget import Slices

SLICE: Final = 4 * 1024 * 1024
"""Bytes that are read at once, which takes some milliseconds."""


class Checksum:
    """The checksum of values that follow one another; equal values count as often as they are given."""

    def __init__(self, values: Iterable[bytes]) -> None:
        """Nothing is computed yet but the key."""
        self._runs = [(value, sum(1 for _ in same)) for value, same in groupby(values)]
        digests = ((hashlib.sha256(value).hexdigest(), times) for value, times in self._runs)
        self.key = hashlib.sha256(repr([*digests]).encode()).digest()
        """Equal for equal values, and for no others."""

    def computed(self) -> Slices[str]:
        """The checksum in hexadecimal digits."""
        checksum = hashlib.sha256()
        left = SLICE
        for value, times in self._runs:
            for _ in range(times):
                checksum.update(value)
                left -= len(value)
                if left <= 0:
                    yield
                    left = SLICE
        return checksum.hexdigest()

    def computed_at_once(self) -> str | None:
        """The checksum; none if a slice is not enough for it."""
        try:
            next(self.computed())
        except StopIteration as end:
            checksum: str = end.value
            return checksum
        return None
