"""Where a server listens, and why it cannot."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

LAST_PORT: Final = 65_535


class ListenError(OSError):
    """An address cannot be listened on; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Where a server listens."""

    address: str
    """Empty: every address."""
    port: int
    """0: any that is free."""
    section: str = field(default="", compare=False)
    """Of the configuration, such as `server.metrics`; empty: none."""

    def __str__(self) -> str:
        """As users write it."""
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


def listener(bind_address: str, port: int, section: str = "") -> Listener | None:
    """The listener that a section of a configuration asks for; port 0 asks for none, as with controller-runtime."""
    return Listener(bind_address, port, section) if port else None


@contextmanager
def explained(purpose: str, where: Listener) -> Iterator[None]:
    """Turn errors into a sentence that names the section of the configuration.

    The port is checked first: the system would report one that does not exist in other words.

    Args:
        purpose: what is listened for.
        where: the address.

    Raises:
        ListenError: it cannot be listened on.
    """
    if not 0 <= where.port <= LAST_PORT:
        at = f"{where.section}.port" if where.section else "port"
        raise ListenError(f"{at}: {where.port} is no port, which are 0 to {LAST_PORT}")
    sentence = f"{where.section}: " * bool(where.section) + f"cannot listen on {where} for {purpose}"
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno).lower() if error.errno and error.errno > 0 else error.strerror
        raise ListenError(f"{sentence}: {reason or error}") from error
    except ValueError as error:
        raise ListenError(f"{sentence}: {where.address!r} is no address") from error
