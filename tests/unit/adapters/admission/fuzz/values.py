"""JSON values that came about by chance, and what chance makes of others: nothing is changed in place.

Much faster than hypothesis, which is what a million examples need; what it cannot do is find a smaller example.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final, TypeAlias

Fragments: TypeAlias = Mapping[str, Sequence[Any]]
"""What stands under members of a name, in objects that make sense."""
FieldPath: TypeAlias = Sequence[str | int]
"""Names of members and numbers of items, from the outside in."""

SCALARS: Final = (
    *(None, True, False, 0, -1, 1, 2, 7, 2**31, 2**63, 2**64, -(2**70), 0.5, -0.0, 3.0, 1e308, 5e-324),
    *("", "a", "b", "0", "-1", "true", "a,b", "a/b~1c", "\0", "\u2028", "größe", "\U0001f600", "x" * 300),
)
NAMES: Final = ("", "a", "a/b", "~", "\0", "größe", "x" * 70)
KEPT: Final = 0.6
"""How often an object or a list only gains or loses something."""
SENSIBLE: Final = 0.6
"""How often a member gets what members of its name have elsewhere."""


def anything(random: Random, fragments: Fragments, depth: int = 3) -> Any:
    """Any JSON value."""
    sort = random.randrange(8) if depth else 0
    if sort == 6:
        return [anything(random, fragments, depth - 1) for _ in range(random.randrange(4))]
    if sort == 7:
        names = [
            random.choice(NAMES if random.random() < SENSIBLE else [*fragments]) for _ in range(random.randrange(4))
        ]
        return {name: anything(random, fragments, depth - 1) for name in names}
    return random.choice(SCALARS)


def changed(random: Random, value: Any, fragments: Fragments) -> Any:
    """A value in which one thing is different, anywhere: another value, a member or an item more or less."""
    return _with_another(random, value, random.choice([*_places(value)]), "", fragments)


def _places(value: Any, here: FieldPath = ()) -> Iterator[FieldPath]:
    """Where values are inside of a value, itself included."""
    yield here
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in inside:
        yield from _places(member, (*here, name))


def _with_another(random: Random, value: Any, place: FieldPath, name: str, fragments: Fragments) -> Any:
    if not place:
        return _other(random, value, name, fragments)
    step, *rest = place
    inner = _with_another(random, value[step], rest, step if isinstance(step, str) else name, fragments)
    copied = value.copy()
    copied[step] = inner
    return copied


def _other(random: Random, value: Any, name: str, fragments: Fragments) -> Any:
    """Something else for what stood under members of a name."""
    if isinstance(value, dict) and random.random() < KEPT:
        if value and random.random() < KEPT:
            gone = random.choice([*value])
            return {kept: member for kept, member in value.items() if kept != gone}
        new = random.choice([*fragments])
        return {**value, new: _another(random, new, fragments)}
    if isinstance(value, list) and value and random.random() < KEPT:
        index = random.randrange(len(value))
        new_items = random.choice(([], [value[index]] * 2, [value[index], anything(random, fragments)]))
        return [*value[:index], *new_items, *value[index + 1 :]]
    return _another(random, name, fragments)


def _another(random: Random, name: str, fragments: Fragments) -> Any:
    if name in fragments and random.random() < SENSIBLE:
        return random.choice(fragments[name])
    return anything(random, fragments)


def damaged(random: Random, text: bytes) -> bytes:
    """A text in which bytes are missing, doubled or others, or that ends too early."""
    start, length = random.randrange(len(text) + 1), random.randrange(1, 9)
    end = start + length
    return random.choice(
        (
            text[:start],
            text[:start] + text[end:],
            text[:end] + text[start:],
            text[:start] + random.randbytes(length) + text[end:],
            text[:start] + random.choice((b"\\ud800", b"\xff", b"NaN", b"1e999", b'"', b"[[[[", b"\0")) + text[end:],
        )
    )


def fragments_of(values: Sequence[Any]) -> Fragments:
    """Everything that stands under members of a name in some values, at any depth."""
    found: dict[str, list[Any]] = {}

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            for name, member in value.items():
                known = found.setdefault(name, [])
                if member not in known:
                    known.append(member)
                collect(member)
        elif isinstance(value, list):
            for item in value:
                collect(item)

    collect(list(values))
    return found
