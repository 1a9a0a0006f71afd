"""The checksum of what a ManagedResource applies: of every value of its Secrets, as often as it holds an object.

Of a value that holds many objects that is a lot to read, and the same again whenever its ManagedResource is looked at.
So the latest checksums are kept, under what stands for the values; the values themselves are not. And it is read in
portions, so that nobody has to wait for all of it: a value of 1 MiB that holds 2 000 objects is 2 GB.

Source: managed-resources §7.6.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from itertools import chain, groupby, repeat
from typing import Final, TypeAlias

MOST: Final = 1024
"""Checksums that are kept."""

PORTION: Final = 64 * 1024 * 1024
"""Bytes that are read at once: less than a tenth of a second of work."""

_Run: TypeAlias = tuple[bytes, int]
"""What stands for a value, and how often it counts one after the other."""


class _Known:
    """The latest checksums."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[_Run, ...], str] = OrderedDict()

    def get(self, key: tuple[_Run, ...]) -> str | None:
        """The checksum that is kept under a key, which makes it the latest."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def keep(self, key: tuple[_Run, ...], checksum: str) -> None:
        """Keep a checksum in place of the oldest."""
        self._kept[key] = checksum
        if len(self._kept) > MOST:
            self._kept.popitem(last=False)


_KNOWN: Final = _Known()


class Checksum:
    """The checksum of values that follow one another, on its way from portion to portion."""

    def __init__(self, values: Iterable[bytes]) -> None:
        """The values count as often as they are given."""
        runs = [(value, sum(1 for _ in same)) for value, same in groupby(values)]
        self._key = tuple((hashlib.sha256(value).digest(), times) for value, times in runs)
        self._values = chain.from_iterable(repeat(value, times) for value, times in runs)
        self._hash = hashlib.sha256()
        self._computed: str | None = None

    def after_a_portion(self) -> str | None:
        """The checksum in hexadecimal digits, or nothing where even after one more portion there are others to read."""
        if self._computed is None:
            self._computed = _KNOWN.get(self._key) or self._read()
        return self._computed

    def _read(self) -> str | None:
        left = PORTION
        for value in self._values:
            self._hash.update(value)
            left -= len(value)
            if left <= 0:
                return None
        computed = self._hash.hexdigest()
        _KNOWN.keep(self._key, computed)
        return computed
