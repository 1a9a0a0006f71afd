"""What the Secrets of ManagedResources hold, and what is said of that which cannot be read."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import chain, repeat

import pytest
from returns.result import Failure, Result, Success

from hedgerow.machinery.documents.budget import MOST_BYTES, ReadingBudget
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.steps import Execution, Now, Pause, Step
from hedgerow.resource_manager.managed_resources.decoding import (
    LONGEST,
    OVERTIME,
    DecodedValue,
    decoded_secret,
    decoded_secrets,
    decompressed,
    in_slices,
)


def reversed_bytes(compressed: bytes) -> Iterator[Result[bytes, str]]:
    """Two pieces; what is called a bomb is endless, what is called broken breaks off."""
    while compressed == b"bomb":
        yield Success(bytes(100_000))
    content = compressed[::-1]
    yield Success(content[:2])
    yield Failure("breaks off") if compressed == b"broken" else Success(content[2:])


def secret(name: str = "s", **data: bytes) -> Manifest:
    encoded = {key.replace("__", "."): b64encode(value).decode() for key, value in data.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "default", "name": name}, "data": encoded}


def decoded(manifest: Manifest) -> tuple[DecodedValue, ...]:
    return decoded_secret(manifest, reversed_bytes)


def errors(**data: bytes) -> list[str]:
    return [error for value in decoded(secret("s", **data)) for error in value.errors]


def test_keys_are_read_in_the_order_of_their_bytes_whatever_their_endings() -> None:
    values = decoded(secret(b__json=b"b: 1", a=b'{"a": 1}', B=b"B: 1\n---\nB: 2"))

    assert [value.documents for value in values] == [({"B": 1}, {"B": 2}), ({"a": 1},), ({"b": 1},)]
    assert values[1] == DecodedValue(b'{"a": 1}', ({"a": 1},), ())


def test_an_error_names_document_key_and_secret_and_costs_nothing_else() -> None:
    first, second = decoded(secret(a=b"---\n\n---\nfoo: [\n---\na: 1", b=b"b: 1"))

    assert first.documents == ({"a": 1},)
    assert second == DecodedValue(b"b: 1", ({"b": 1},), ())
    (error,) = first.errors
    assert error.startswith(
        "Could not decode resource at index 1 in 'a' in secret 'default/s': error converting YAML to JSON: line 5: "
    )
    assert error.endswith(".")


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        pytest.param(b'{"apiVersion":"v1",', "unexpected EOF", id="JSON that is cut off"),
        pytest.param(b"--- oops\n", "invalid Yaml document separator: oops", id="no separator"),
        pytest.param(b"a: \xff", "the value is not UTF-8 text: it holds the byte 0xff", id="no text"),
    ],
)
def test_broken_values_are_one_error(value: bytes, cause: str) -> None:
    assert errors(k=value) == [f"Could not decode resource at index 0 in 'k' in secret 'default/s': {cause}."]


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        pytest.param("?", "the value is not encoded in base64", id="no base64"),
        pytest.param("ä", "the value is not encoded in base64", id="beyond ASCII"),
        pytest.param(["YTogMQ=="], "the value must be a string, got a list", id="a list"),
    ],
)
def test_what_is_no_data_of_a_secret_is_an_error_too(value: object, cause: str) -> None:
    broken, kept = decoded({**secret(), "data": {"a": value, "b": "YjogMQ=="}})

    assert broken == DecodedValue(
        b"", (), (f"Could not decode resource at index 0 in 'a' in secret 'default/s': {cause}.",)
    )
    assert kept.documents == ({"b": 1},)


def test_compressed_values_are_decompressed_and_keep_their_bytes() -> None:
    value, plain = decoded(secret(data__yaml__br=b"1 :a", data__yaml__brx=b"a: 2"))

    assert value == DecodedValue(b"1 :a", ({"a": 1},), ())
    assert plain == DecodedValue(b"a: 2", ({"a": 2},), ())


def test_what_cannot_be_decompressed_is_one_error() -> None:
    assert errors(k__br=b"broken") == [
        "Could not decode resource at index 0 in 'k.br' in secret 'default/s': the value breaks off."
    ]


def test_a_byte_order_mark_says_nothing() -> None:
    (value,) = decoded(secret(k=b'\xef\xbb\xbf{"a": 1}'))

    assert value.documents == ({"a": 1},)


def test_base64_may_stand_in_lines() -> None:
    (value,) = decoded({**secret(), "data": {"k": "YTog\r\nMQ==\n"}})

    assert value.documents == ({"a": 1},)


def test_a_secret_without_data_holds_nothing() -> None:
    assert decoded({"metadata": {"namespace": "default", "name": "s"}}) == ()
    assert decoded({**secret(), "data": {"k": None}}) == (DecodedValue(b"", (), ()),)


def test_data_of_another_shape_are_no_ones_to_guess() -> None:
    with pytest.raises(UnreadableError, match="data: expected an object, got a list"):
        decoded({**secret(), "data": []})


NOW = datetime(2026, 1, 1, tzinfo=UTC)


def in_turns(
    *secrets: Manifest, budget: ReadingBudget | None = None, clock: Callable[[], datetime] = lambda: NOW
) -> tuple[Mapping[str, tuple[DecodedValue, ...]], int]:
    """What Secrets hold, and in how many slices they are decoded."""
    named = {each["metadata"]["name"]: each for each in secrets}
    limit = budget or ReadingBudget()
    slices = 1
    with Execution(in_slices(decoded_secrets(named, reversed_bytes, limit), limit)) as execution:
        state = execution.begin()
        while isinstance(state, Step):
            slices += isinstance(state, Pause)
            state = execution.go_on(clock() if isinstance(state, Now) else None)
    return state, slices


def test_small_secrets_are_decoded_in_one_slice_and_large_ones_in_slices_of_their_work() -> None:
    _, small = in_turns(secret(a=b"a: 1"), secret("t", b=b"b: [1, 2]"))
    _, large = in_turns(secret(a=b"a:\n" + b"- {b: 1}\n" * 20_000))

    assert small == 1
    assert large > 100


def test_slices_make_no_difference_to_what_is_decoded() -> None:
    first = secret(a=b"a:\n" + b"- {b: 1}\n" * 2_000, b=b'{"a": 1}' * 2_000, c__br=b"]" + b",1" * 3_000 + b"[ :a")
    second = secret("t", a=b"--- oops\n---\na: [\n---\nb: 1")

    found, slices = in_turns(first, second)

    assert slices > 10
    assert found == {"s": decoded(first), "t": decoded(second)}


def test_a_pause_tells_how_much_is_held() -> None:
    manifest, budget = secret(a=b"a: [1, 2]\n---\n" * 2_000), ReadingBudget()
    held = []
    with Execution(in_slices(decoded_secrets({"s": manifest}, reversed_bytes, budget), budget)) as execution:
        state = execution.begin()
        while isinstance(state, Step):
            held += [state.held] if isinstance(state, Pause) else []
            state = execution.go_on(NOW if isinstance(state, Now) else None)

    assert held == sorted(held)
    assert 0 < held[-1] <= budget.nodes


def read_with(budget: ReadingBudget, *secrets: Manifest) -> Iterator[tuple[str, list[Manifest], tuple[str, ...]]]:
    """What is decoded, value by value: the Secret, the objects and the errors."""
    found, _ = in_turns(*secrets, budget=budget)
    for name, values in found.items():
        for value in values:
            yield name, list(value.documents), value.errors


def exceeded(limit: str, index: int, key: str, name: str) -> tuple[str, ...]:
    cause = f"the secrets hold {limit}, and nothing from here on is decoded"
    return (f"Could not decode resource at index {index} in '{key}' in secret 'default/{name}': {cause}.",)


@pytest.mark.parametrize(
    ("budget", "secrets", "limit"),
    [
        pytest.param(
            ReadingBudget(nodes=12),
            [secret(a=b'{"a": [1]}'), secret("t", b=b"b: 1\n---\nb: [1, 2, 3]\n---\nb: 3", c=b"c: 1")],
            "more than 12 values",
            id="values of JSON and YAML",
        ),
        pytest.param(
            ReadingBudget(documents=2),
            [secret(a=b'{"a": [1]}'), secret("t", b=b"b: 1\n---\nb: 2\n---\nb: 3", c=b"c: 1")],
            "more than 2 documents",
            id="documents",
        ),
    ],
)
def test_one_budget_limits_all_secrets_and_the_documents_before_the_limit_are_decoded(
    budget: ReadingBudget, secrets: list[Manifest], limit: str
) -> None:
    assert [*read_with(budget, *secrets)] == [
        ("s", [{"a": [1]}], ()),
        ("t", [{"b": 1}], exceeded(limit, 1, "b", "t")),
    ]


@pytest.mark.parametrize("key", ["b", "b__br"])
def test_the_value_with_too_many_bytes_is_named_and_none_after_it_is_decoded(key: str) -> None:
    secrets = [
        secret(a=b"a: 1", c=b"c: ["),
        secret("t", a=b"--- x", c=b"c: 1", **{key: b"bomb"}),
        secret("u", a=b""),
    ]
    limit = "more than 16 bytes once decompressed"

    *before, last = read_with(ReadingBudget(size=16), *secrets)

    assert [(name, documents, len(errors)) for name, documents, errors in before] == [
        ("s", [{"a": 1}], 0),
        ("s", [], 1),
        ("t", [], 1),
    ]
    assert last == ("t", [], exceeded(limit, 0, key.replace("__", "."), "t"))


def test_an_endless_value_is_read_up_to_the_usual_limit() -> None:
    (told,) = errors(a__br=b"bomb")

    assert f"more than {MOST_BYTES} bytes once decompressed" in told


def test_secrets_that_take_too_long_are_decoded_as_far_as_the_time_reaches() -> None:
    manifest = secret(a=b"a: 1\n---\n" + b"a: [" + b"{b: 1}, " * 2_000 + b"1]\n---\na: 2", b=b"b: 1")
    budget = ReadingBudget()
    times = chain([NOW, NOW + LONGEST], repeat(NOW + LONGEST + timedelta(seconds=1)))

    found, _ = in_turns(manifest, budget=budget, clock=lambda: next(times))

    (value,) = found["s"]
    assert value.documents == ({"a": 1},)
    assert value.errors == exceeded(OVERTIME, 1, "a", "s")
    assert budget.exceeded == OVERTIME


def test_a_compressed_value_that_stands_for_more_than_the_limit_is_a_failure() -> None:
    content = decompressed(b"bomb", reversed_bytes, ReadingBudget())

    assert content.failure().startswith("stands for ")
    assert decompressed(b"cba", reversed_bytes, ReadingBudget()) == Success(b"abc")
