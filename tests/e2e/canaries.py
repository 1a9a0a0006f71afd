"""Texts that stand in one secret place each, and are looked for in all others."""

import base64
import secrets
from collections.abc import Iterable


class Canaries:
    """Texts that stand in one secret place each and must not be read in any other."""

    def __init__(self) -> None:
        self._places: dict[str, str] = {}

    def new(self, place: str) -> str:
        return self.known(place, f"canary-{secrets.token_hex(16)}")

    def known(self, place: str, text: str) -> str:
        """A secret text that somebody else has made."""
        self._places[text] = place
        return text

    def seen_in(self, texts: Iterable[str]) -> set[str]:
        """The places whose secret stands in one of the texts, as it is or in base64, wherever that begins."""
        told = "\n".join(texts)
        return {place for secret, place in self._places.items() if any(each in told for each in _spellings(secret))}


def _spellings(secret: str) -> list[str]:
    """A text, and what of it is the same in base64 wherever it stands in what was encoded."""
    shifted = [base64.b64encode(b"x" * shift + secret.encode()).decode()[4:-4] for shift in range(3)]
    return [secret, *shifted]
