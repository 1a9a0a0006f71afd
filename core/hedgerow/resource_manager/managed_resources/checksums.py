"""The checksum of what a ManagedResource applies: of every value of its Secrets, as often as it holds an object.

Of a value that holds many objects that is a lot to read, and the same again whenever its ManagedResource is looked at.
So the latest checksums are kept, under what stands for the values; the values themselves are not.

Source: managed-resources §7.6.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from itertools import groupby
from typing import Final, TypeAlias

MOST: Final = 1024
"""Checksums that are kept."""
_Run: TypeAlias = tuple[bytes, int]
"""A value, and how often it counts one after the other."""


def checksum(values: Iterable[bytes]) -> str:
    """The checksum of values that follow one another, in hexadecimal digits."""
    runs = [(value, sum(1 for _ in same)) for value, same in groupby(values)]
    return _CHECKSUMS.of(runs)


class _Checksums:
    """The latest checksums."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[_Run, ...], str] = OrderedDict()

    def of(self, runs: list[_Run]) -> str:
        """The checksum of runs, known or computed."""
        key = tuple((hashlib.sha256(value).digest(), times) for value, times in runs)
        known = self._known.pop(key, None) or _computed(runs)
        self._known[key] = known
        if len(self._known) > MOST:
            self._known.popitem(last=False)
        return known


def _computed(runs: Iterable[_Run]) -> str:
    computed = hashlib.sha256()
    for value, times in runs:
        for _ in range(times):
            computed.update(value)
    return computed.hexdigest()


_CHECKSUMS: Final = _Checksums()
