"""Which JSON codec the process uses, decided once at import: orjson where it is installed, else the standard library.

Both write compact UTF-8, accept and refuse the same values, and raise TypeError or ValueError for what is no JSON.
Source: decision A-7.
"""

import json
from collections.abc import Callable
from math import isinf
from typing import Any, Final, NamedTuple, NoReturn


class Codec(NamedTuple):
    """A way to write and to read JSON."""

    name: str
    encode: Callable[[Any], bytes]
    """The compact UTF-8 text of a value made of dict, list, tuple, str, int, float, bool and None."""
    decode: Callable[[bytes | bytearray], Any]
    """The value that a UTF-8 text stands for; ValueError if it is no JSON."""


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError("a number is too large")
    return number


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_DECODER: Final = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)


def standard() -> Codec:
    """The codec of the standard library."""

    def decode(text: bytes | bytearray) -> Any:
        try:
            value = _DECODER.decode(text.decode())
            if b"\\ud" in text or b"\\uD" in text:
                _ENCODER.encode(value).encode()  # half of a surrogate pair could be read, but not written: ValueError
        except RecursionError as error:
            raise ValueError("nested too deeply") from error
        return value

    return Codec("json", lambda value: _ENCODER.encode(value).encode(), decode)


def decode_at(text: str, position: int) -> tuple[Any, int]:
    """The value that begins at a position of a text, and where it ends; ValueError: there is none for the codecs."""
    try:
        value, end = _DECODER.raw_decode(text, position)
        if text.find("\\ud", position, end) >= 0 or text.find("\\uD", position, end) >= 0:
            _ENCODER.encode(value).encode()
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value, end


def fastest() -> Codec:
    """The codec of orjson where that is installed, else the standard library's."""
    try:
        import orjson  # noqa: PLC0415 -- an optional extra
    except ImportError:
        return standard()
    # Without these options orjson would write what the standard library refuses, or refuse keys that it writes.
    options = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
    return Codec("orjson", lambda value: orjson.dumps(value, option=options), orjson.loads)


CODEC: Final = fastest()
encode = CODEC.encode
decode = CODEC.decode

_ESCAPED_BY_API_SERVERS: Final = tuple(
    (character.encode(), f"\\u{ord(character):04x}".encode()) for character in ("<", ">", "&", "\u2028", "\u2029")
)


def encode_as_api_servers(value: Any) -> bytes:
    """The text of a value as an API server writes it itself: what HTML would take for something else is escaped.

    The `test` of a JSON patch compares texts letter by letter, not the values that they stand for. Nothing of what is
    escaped can occur outside of a string.
    """
    text = encode(value)
    for character, escaped in _ESCAPED_BY_API_SERVERS:
        text = text.replace(character, escaped)
    return text
