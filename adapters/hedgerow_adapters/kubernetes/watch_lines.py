"""Where the lines of a watch begin and end, when the network cuts them anywhere.

An event is one line, and may be several MiB long; a chunk may hold a part of a line or hundreds of them. Knows nothing
of sockets and of what a line means.
"""


class LineSplitter:
    """Puts lines together from chunks; every byte is looked at once and copied at most twice."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes, without their ends; blank ones are left out."""
        first, *others = chunk.split(b"\n")
        if not others:
            self._parts.append(chunk)
            return []
        self._parts.append(first)
        lines = [b"".join(self._parts), *others[:-1]]
        self._parts = [others[-1]]
        return [line for line in lines if line and not line.isspace()]

    @property
    def is_inside_a_line(self) -> bool:
        """Whether the last chunk ended in the middle of a line."""
        return any(part and not part.isspace() for part in self._parts)
