"""What is read of Secrets: nobody is told of the values in them, and nobody waits for a large one."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.resource_manager.managed_resources import checksums
from hedgerow.resource_manager.managed_resources.reconciliation import secrets
from tests.unit.core.resource_manager.managed_resources.workshop import (
    Workshop,
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


@settings(max_examples=150)
@given(st.lists(documents(), min_size=1, max_size=3), st.sampled_from(["---\n", "", "\n"]))
def test_nothing_is_told_of_the_values_of_a_secret(texts: list[str], between: str) -> None:
    workshop = Workshop()
    workshop.put(secret(k=between.join(texts)), managed_resource("secret"))

    report = workshop.turn()

    assert CANARY not in json.dumps(workshop.managed_resource()["status"])
    assert CANARY not in "".join(report.events)
    assert CANARY not in "".join(map(str, report.plan.failures))


def test_a_large_secret_is_summed_up_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checksums, "PORTION", 1024)
    workshop = Workshop()
    text = "---\n".join(json.dumps(config_map(f"large-{number}")) + "\n" for number in range(10))
    workshop.put(secret(k=f"# YAML\n{text}"), managed_resource("secret"))

    report = workshop.turn()

    told = workshop.managed_resource()["status"]["secretsDataChecksum"]
    assert told == hashlib.sha256(f"# YAML\n{text}".encode() * 10).hexdigest()
    assert report.stages >= 10


def test_large_secrets_are_decoded_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = stages_of_three_secrets()
    monkeypatch.setattr(secrets, "ENOUGH", 1)

    assert stages_of_three_secrets() == usual + 2


def stages_of_three_secrets() -> int:
    workshop = Workshop()
    workshop.put(*(secret(name, k=[config_map(name)]) for name in "abc"), managed_resource(*"abc"))
    report = workshop.turn()
    assert workshop.references() == ["ConfigMap/a", "ConfigMap/b", "ConfigMap/c"]
    return report.stages
