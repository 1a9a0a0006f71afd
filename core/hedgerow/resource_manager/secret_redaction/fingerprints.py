"""What stands for a value that nobody may read."""

import hmac
import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

PREFIX: Final = "fingerprint-"
_DIGITS: Final = 32


class Fingerprints:
    """The fingerprints under one key: without it nobody can try out which value one is of."""

    def __init__(self, key: bytes) -> None:
        """Fingerprints under a key.

        Args:
            key: random, of 32 bytes, and known to nobody else.
        """
        self._key = key

    def of(self, value: bytes) -> str:
        """What stands for bytes; nothing for none, as everybody sees that there are none."""
        return f"{PREFIX}{self._digest(value)[:_DIGITS]}" if value else ""

    def of_text(self, text: str) -> str:
        """What stands for a text, and for its bytes as well."""
        return self.of(text.encode(errors="surrogatepass"))

    def of_checksum(self, checksum: str) -> str:
        """What stands for a SHA-256 checksum in hexadecimal digits, and looks like one."""
        return self._digest(checksum.encode(errors="surrogatepass"))

    def of_leaves(self, value: Any, *, hides_names: bool = False) -> Any:
        """A JSON value with fingerprints in place of all that it holds, the names of members included if so wanted."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self.of_text(value)
        if isinstance(value, Mapping):
            return {
                self.of_text(name) if hides_names else name: self.of_leaves(each, hides_names=hides_names)
                for name, each in value.items()
            }
        if isinstance(value, list):
            return [self.of_leaves(each, hides_names=hides_names) for each in value]
        return self.of_text(json.dumps(value))

    def _digest(self, value: bytes) -> str:
        return hmac.new(self._key, value, sha256).hexdigest()
