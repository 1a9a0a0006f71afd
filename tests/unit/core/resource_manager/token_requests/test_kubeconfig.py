"""Kubeconfigs whose current user gets another token."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.documents.streams import stream_documents
from hedgerow.resource_manager.token_requests import read_kubeconfig
from tests.unit.core.resource_manager.token_requests.harness import kubeconfig

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), min_size=1)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | NAMES | st.sampled_from(["y", "no", "012", "1e3", "~"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=4,
)
KNOWN = {"apiVersion", "kind", "clusters", "contexts", "current-context", "users"}


def read(text: bytes) -> Any:
    (document,) = stream_documents(text.decode())
    assert not document.problems
    return document.value


@given(
    current=NAMES,
    unknown=st.dictionaries(NAMES, VALUES, max_size=3),
    credentials=st.dictionaries(NAMES, VALUES, max_size=3),
    others=st.lists(st.tuples(NAMES, st.dictionaries(NAMES, VALUES, max_size=2)), max_size=3),
    token=st.text("abc.-_", min_size=1),
)
def test_all_but_the_token_of_the_current_user_survives(
    current: str, unknown: dict[str, Any], credentials: dict[str, Any], others: list[Any], token: str
) -> None:
    mine: dict[str, Any] = {"name": current, "user": {**credentials, "token": "old"}}
    entries = [{"name": name, "user": user, "more": user} for name, user in others if name != current]
    for entry in entries:
        entry["user"] = {name: value for name, value in entry["user"].items() if name != "token"}
    before = {
        **{name: value for name, value in unknown.items() if name not in KNOWN},
        "contexts": [{"name": current, "context": {"user": current}}],
        "current-context": current,
        "users": [*entries, mine],
    }

    kubeconfig = read_kubeconfig(json.dumps(before).encode()).unwrap()
    after = kubeconfig.with_token(token)

    assert kubeconfig.token == mine["user"]["token"]
    assert read(after) == {**before, "users": [*entries, {**mine, "user": {**mine["user"], "token": token}}]}
    assert read_kubeconfig(after).unwrap().token == token
    assert read_kubeconfig(after).unwrap().with_token(token) == after


def test_a_kubeconfig_is_written_as_people_write_it() -> None:
    given = kubeconfig()
    given["contexts"].append({"name": "y", "context": {"user": "no"}})
    given["users"][0]["user"]["client-key-data"] = "x" * 300

    written = read_kubeconfig(json.dumps(given).encode()).unwrap().with_token("new")

    assert written.decode().splitlines() == [
        "apiVersion: v1",
        "clusters:",
        "- cluster:",
        "    server: https://x",
        "  name: c",
        "contexts:",
        "- context:",
        "    cluster: c",
        "    user: u",
        "  name: x",
        "- context:",
        '    user: "no"',
        '  name: "y"',
        "current-context: x",
        "kind: Config",
        "users:",
        "- name: u",
        "  user:",
        f"    client-key-data: {'x' * 300}",
        "    token: new",
        "- name: other",
        "  user:",
        "    token: untouched",
    ]
    assert written.endswith(b"\n")


def test_the_first_context_and_the_first_user_of_a_name_count() -> None:
    given = kubeconfig("first")
    given["contexts"].append({"name": "x", "context": {"user": "other"}})
    given["users"].append({"name": "u", "user": {"token": "second"}})

    found = read_kubeconfig(yaml.safe_dump(given).encode()).unwrap()

    assert found.with_token("new").count(b"token: second") == 1
    assert b"token: first" not in found.with_token("new")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"---canary-1\na: 1", "is neither YAML nor JSON"),
        (b"a: 1\n---\nb: 2", "holds more than one document"),
        (b"[canary-2]", "is neither YAML nor JSON"),
        (b"apiVersion: v2", "apiVersion: must be v1"),
        (b"kind: canary-3", "kind: must be Config"),
        (b"users: canary-4", "users: expected a list, got a string"),
        (b"users: [{name: u, user: {token: [canary-5]}}]", "users[0].user.token: expected a string, got a list"),
        (b"contexts: [{name: y}]", "contexts[0].name: expected a string, got a boolean"),
        (b"contexts: [{name: x, context: canary-6}]", "contexts[0].context: expected an object, got a string"),
        (
            b"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [%s]\nc: &c [%s]\nd: &d [%s]\ne: [%s]"
            % tuple(b",".join([b"*" + name] * 9) for name in (b"a", b"b", b"c", b"d")),
            "holds more than 5000 values",
        ),
        (b"{" * 100_000, "is neither YAML nor JSON"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_of_what_stands_there(text: bytes, problem: str) -> None:
    failure = read_kubeconfig(text).failure()

    assert failure == problem
    assert "canary" not in failure
