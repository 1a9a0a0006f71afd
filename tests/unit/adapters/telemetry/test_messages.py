"""The registry of log messages: nothing else reaches `msg`, and the page for operators explains all of them."""

import ast
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from hedgerow_adapters.telemetry.messages import COMMON, Message

REPOSITORY = Path(__file__).parents[4]
SOURCES = [path for folder in ("adapters", "entrypoints") for path in (REPOSITORY / folder).rglob("*.py")]
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}
LOGS = REPOSITORY / "adapters" / "hedgerow_adapters" / "telemetry" / "logs.py"
PAGE = REPOSITORY / "docs" / "operations.md"
OPENING, CLOSING = "<!-- log messages: pytest tests/unit/adapters/telemetry --update-golden -->\n", "<!-- end -->\n"
OF_THE_LOGGER = {"again", "exc_info"}
"""What `tell` takes that is no member."""


def calls(*names: str) -> Iterator[tuple[Path, ast.Call]]:
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names:
                yield path, node


def messages_in(node: ast.AST) -> list[Message]:
    attributes = (each for each in ast.walk(node) if isinstance(each, ast.Attribute))
    return [
        Message[each.attr] for each in attributes if isinstance(each.value, ast.Name) and each.value.id == "Message"
    ]


def keywords(call: ast.Call) -> set[str]:
    return {each.arg for each in call.keywords if each.arg} - OF_THE_LOGGER


def test_only_one_module_writes_lines() -> None:
    importing = {
        path
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
        if name.partition(".")[0] in {"logging", "structlog"}
    }

    assert importing == {LOGS}


def test_every_message_is_told_and_has_a_text_of_its_own() -> None:
    told = {message for tree in TREES.values() for message in messages_in(tree)}

    assert told == set(Message)
    assert len({message.text for message in Message}) == len(Message)


def test_a_line_has_no_members_but_those_of_its_message() -> None:
    wrong = [
        f"{path.name}:{call.lineno}: {message.name}: {', '.join(sorted(keywords(call) - {*message.members, *COMMON}))}"
        for path, call in calls("tell", "_once")
        for message in messages_in(call)
        if not keywords(call) <= {*message.members, *COMMON}
    ]

    assert not wrong


def test_every_member_of_a_message_is_set_somewhere() -> None:
    bound = {name for _, call in calls("bind") for name in keywords(call)}
    # Members that a line has only if there is something to say are bound from a mapping.
    bound |= {key.value for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.Dict)
              for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}  # fmt: skip
    bound |= {"stacktrace"}  # of `exc_info`
    told = {message: set[str]() for message in Message}
    for _, call in calls("tell", "_once"):
        for message in messages_in(call) or Message:
            told[message] |= keywords(call)

    assert {message.name for message in Message if not set(message.members) <= told[message] | bound} == set()


def test_the_page_for_operators_lists_all_messages(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(OPENING)
    made, _, after = rest.partition(CLOSING)
    text = "".join(f"{line}\n" for line in table())
    if request.config.getoption("--update-golden"):
        PAGE.write_text(f"{before}{OPENING}{text}{CLOSING}{after}", encoding="utf-8")
        made = text

    assert made == text


def table() -> Iterator[str]:
    yield from ("| `msg` | Level | Members | Meaning, and what to do |", "|---|---|---|---|")
    for message in Message:
        members = ", ".join(f"`{name}`" for name in message.members)
        yield f"| `{message.text}` | {message.severity} | {members} | {message.meaning} |"


def test_meanings_fit_into_a_table() -> None:
    texts = itertools.chain.from_iterable((message.text, message.meaning) for message in Message)

    assert not [text for text in texts if "|" in text or "\n" in text or text.endswith(".")]
