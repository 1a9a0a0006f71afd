"""What is read of Secrets: nobody is told of the values in them, and nobody waits for a large one."""

import hashlib
import json
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.documents.budget import ReadingBudget
from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources import decoding
from hedgerow.resource_manager.managed_resources.conditions import MOST_ERRORS
from hedgerow.resource_manager.managed_resources.decoding import LONGEST, OVERTIME
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig
from hedgerow_adapters.memory.clock import SettableClock
from tests.unit.core.resource_manager.managed_resources.harness import (
    CONFIG_MAPS,
    Harness,
    config_map,
    managed_resource,
    secret,
)

CANARY = "hunter2"

MARKS = ["", "*", "!", "!!", "!!int ", "&a ", "@", "`", "%", "{", "[", '"', "'", "|", ">", "- ", "? ", "0x", "<<: "]
KEYS = st.sampled_from(["a", "b", "<<", "data", "spec", "template", "metadata"])
LEAVES = st.builds(
    "{}{}{}".format, st.sampled_from(MARKS), st.just(CANARY), st.sampled_from(["", "'", '"', ": x", "}"])
)
VALUES = st.recursive(LEAVES, lambda values: st.lists(values, max_size=2) | st.dictionaries(KEYS, values, max_size=2))
FIELDS = st.dictionaries(st.sampled_from(["data", "stringData", "spec", "immutable", "type"]), VALUES, min_size=1)


def as_yaml(fields: Any, indent: str = "") -> str:
    """Text with every leaf as it is, be that valid or not."""
    if isinstance(fields, str):
        return f" {fields}\n"
    if not fields:
        return " []\n" if isinstance(fields, list) else " {}\n"
    entries = (
        [f"{indent}-{as_yaml(value, indent + '  ')}" for value in fields]
        if isinstance(fields, list)
        else [f"{indent}{key}:{as_yaml(value, indent + '  ')}" for key, value in fields.items()]
    )
    return "\n" + "".join(entries)


def as_json(fields: Any, *, quoted: bool) -> str:
    """Text that is JSON only where its leaves are quoted."""
    text = json.dumps(fields)
    return text if quoted else text.replace(f'"{CANARY}', CANARY)


@st.composite
def documents(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(["Secret", "ConfigMap", "Deployment", "Thing"]))
    named = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "a", "namespace": "default"}}
    fields = draw(FIELDS)
    if draw(st.booleans()):
        return as_yaml(named).lstrip() + as_yaml(fields).lstrip("\n")
    return as_json({**named, **fields}, quoted=draw(st.booleans()))


@given(st.lists(documents(), min_size=1, max_size=3), st.sampled_from(["---\n", "", "\n"]))
def test_nothing_is_told_of_the_values_of_a_secret(texts: list[str], between: str) -> None:
    harness = Harness()
    harness.put(secret(k=between.join(texts)), managed_resource("secret"))

    report = harness.turn()

    assert CANARY not in json.dumps(harness.managed_resource()["status"])
    assert CANARY not in "".join(report.events)
    assert CANARY not in "".join(map(str, report.plan.failures))


def test_a_large_secret_is_summed_up_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "SLICE", 1024)
    harness = Harness()
    text = "---\n".join(json.dumps(config_map(f"large-{number}")) + "\n" for number in range(10))
    harness.put(secret(k=f"# YAML\n{text}"), managed_resource("secret"))

    report = harness.turn()

    told = harness.managed_resource()["status"]["secretsDataChecksum"]
    assert told == hashlib.sha256(f"# YAML\n{text}".encode() * 10).hexdigest()
    assert report.pauses >= 8


def test_a_large_secret_is_decoded_in_slices_and_applied() -> None:
    harness = Harness()
    text = "---\n".join(f"{json.dumps(config_map(f'large-{number}'))}\n" for number in range(500))
    harness.put(secret(k=f"# YAML\n{text}"), managed_resource("secret"))

    report = harness.turn()

    assert report.pauses > 16
    assert len(harness.references()) == 500
    assert harness.said()["ResourcesApplied"] == "True/ApplySucceeded"


def frugal(*secrets: Manifest, documents: int) -> Harness:
    """A ManagedResource of these Secrets, and a controller that reads so many documents in a turn."""
    harness = Harness(ManagedResourceConfig(budget=lambda: ReadingBudget(documents=documents)))
    harness.put(*secrets, managed_resource(*(each["metadata"]["name"] for each in secrets)))
    return harness


def told(*errors: str) -> str:
    return f"Could not decode all new resources: [{' '.join(errors)}]"


def exceeded(limit: str, index: int, key: str, name: str) -> str:
    cause = f"the secrets hold {limit}, and nothing from here on is decoded"
    return f"Could not decode resource at index {index} in '{key}' in secret 'default/{name}': {cause}."


def test_documents_before_a_limit_are_applied_and_nothing_behind_it_is_deleted() -> None:
    a, b = secret("a", k=[config_map("read")]), secret("b", k=[config_map("cut-off")], m=[config_map("behind")])
    harness = frugal(a, b, documents=4)
    harness.turn()
    harness.put(secret("a", broken="--- x", k=[config_map("read", {"k": "new"}), config_map("added")]))
    harness.put(secret("b", k=[config_map("added-too"), config_map("cut-off")], m=[config_map("behind")]))

    report = harness.turn()

    errors = (
        "Could not decode resource at index 0 in 'broken' in secret 'default/a': invalid Yaml document separator: x.",
        exceeded("more than 4 documents", 1, "k", "b"),
    )
    assert harness.said()["ResourcesApplied"] == "False/DecodingFailed"
    assert harness.condition().message == told(*errors)
    assert harness.live(CONFIG_MAPS, "read")["data"] == {"k": "new"}
    assert harness.references() == [f"ConfigMap/{name}" for name in ("added", "added-too", "behind", "cut-off", "read")]
    assert all(harness.get(CONFIG_MAPS, name) for name in ("added", "added-too", "behind", "cut-off"))
    assert not report.plan.failures[0].retryable


def test_secrets_over_a_limit_are_not_decoded_again_before_they_change() -> None:
    harness = frugal(secret("a", k=[config_map(name) for name in ("one", "two", "three")]), documents=2)
    harness.turn()

    again = harness.turn()
    harness.put(secret("a", k=[config_map("one"), config_map("two")]))
    harness.turn()

    assert (again.waits, again.requests) == (0, 0)
    assert again.plan.requeue_after == 60
    assert harness.said()["ResourcesApplied"] == "True/ApplySucceeded"
    assert harness.references() == ["ConfigMap/one", "ConfigMap/two"]


class PassingClock(SettableClock):
    """A third of the time that decoding may take passes until it is asked again."""

    def __call__(self) -> datetime:
        self.advance(LONGEST.seconds / 3)
        return self.now


def test_secrets_that_take_too_long_are_applied_as_far_as_the_time_reaches_and_tried_again() -> None:
    harness = Harness()
    text = f"---\n{json.dumps(config_map('read'))}\n---\n[{'[],' * 9_000}[]]\n---\n{json.dumps(config_map('last'))}\n"
    harness.put(secret(k=text), managed_resource("secret"))
    harness.clock = PassingClock()

    report = harness.turn()

    assert harness.condition().message == told(exceeded(OVERTIME, 1, "k", "secret"))
    assert report.plan.failures[0].retryable
    assert harness.references() == ["ConfigMap/read"]

    harness.clock = SettableClock()
    harness.turn()
    assert harness.references() == ["ConfigMap/last", "ConfigMap/read"]


def test_errors_without_number_are_counted() -> None:
    harness = Harness()
    harness.put(secret(**{f"k{number:03}": "--- x" for number in range(100)}), managed_resource("secret"))

    harness.turn()

    message = harness.condition().message
    assert message.count("Could not decode resource") == MOST_ERRORS + 1
    assert "(79 more errors.) Could not decode resource at index 0 in 'k099'" in message


def test_a_compressed_value_is_an_error_where_nothing_can_decompress_it() -> None:
    made = Harness()
    stored = secret(b=[config_map("b")])
    made.put({**stored, "data": {**stored["data"], "a.br": "eA=="}}, managed_resource("secret"))

    made.turn()

    assert "the value cannot be decompressed: no decompressor is configured" in made.condition().message
    assert made.get(CONFIG_MAPS, "b") is not None
