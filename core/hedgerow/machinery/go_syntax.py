"""How Go reads the booleans and integers that users write as text, in annotations and labels.

Python reads more leniently, and other software reads the same annotations as Go does.

Source: webhooks-and-tokens §1.3.
"""

import re
from typing import Final

from returns.result import Failure, Result, Success

_BOOLEANS: Final = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}
_INTEGER: Final = re.compile("[+-]?[0-9]+")
_LONGEST_INTEGER: Final = 4000
"""Digits beyond which Python refuses to read an integer at all; none of so many fits any width."""


def parse_bool(text: str) -> Result[bool, str]:
    """The boolean that a text spells, or why it spells none, as one clause; blanks around it make it none."""
    value = _BOOLEANS.get(text)
    return Failure('must be "true" or "false"') if value is None else Success(value)


def parse_int(text: str, bits: int) -> Result[int, str]:
    """The decimal integer that a text spells, or why it spells none of that width, as one clause.

    Args:
        text: an optional sign and ASCII digits, nothing else.
        bits: the width of the integer, one of them for its sign.
    """
    if not _INTEGER.fullmatch(text):
        return Failure("must be an integer")
    if len(text) <= _LONGEST_INTEGER:
        value = int(text)
        if -(1 << (bits - 1)) <= value < 1 << (bits - 1):
            return Success(value)
    return Failure(f"must be an integer of {bits} bits")
