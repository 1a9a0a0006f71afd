"""When to say that an API server cannot be reached, and when that it is back: once each, however many requests fail.

An outage begins with a request that fails while, since it began, no other was answered: a single slow request beside
answered ones is none. It ends with the next answer. Knows nothing of clocks, sockets and of how it is said.
"""


class Outage:
    """What the requests of one connection say together about its server."""

    __slots__ = ("_answers", "_is_out")

    def __init__(self) -> None:
        self._answers = 0
        self._is_out = False

    def began(self) -> int:
        """A mark of now, for a request that begins; `failed` wants it back."""
        return self._answers

    def failed(self, mark: int) -> bool:
        """Note a request that began at a mark and got no answer; whether an outage begins with it."""
        if self._is_out or mark != self._answers:
            return False
        self._is_out = True
        return True

    def succeeded(self) -> bool:
        """Note that the server answered, whatever it said; whether that ends an outage."""
        self._answers += 1
        was_out, self._is_out = self._is_out, False
        return was_out
