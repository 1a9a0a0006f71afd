"""What tool builders are offered: few names, and the pages for them use no others."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from tests.documentation.test_commands import commands_of

DOCS: Final = Path(__file__).parents[2] / "docs"
CONTEXTS: Final = (
    "hedgerow.admission",
    "hedgerow.operator.namespace_network_policies",
    "hedgerow.resource_manager.builder",
    "hedgerow.resource_manager.garbage_collection",
    "hedgerow.resource_manager.health",
    "hedgerow.resource_manager.kubelet_certificates",
    "hedgerow.resource_manager.managed_resources",
    "hedgerow.resource_manager.network_policies",
    "hedgerow.resource_manager.nodes",
    "hedgerow.resource_manager.token_invalidation",
    "hedgerow.resource_manager.token_requests",
)
TOOLS: Final = {
    "hedgerow_adapters.embedding": {"planned", "run", "simulated"},
    "hedgerow_entrypoints.own_controllers": {"main"},
}
"""What runs controllers; it comes with the command."""
PAGES: Final = ("embedding", "own-controllers")


def imported(page: str) -> Iterator[tuple[str, str]]:
    """Module and name of each import of ours in the programs of a page."""
    for command in commands_of((DOCS / f"{page}.md").read_text(encoding="utf-8")):
        first, *lines = command.script.splitlines()
        if not first.startswith("cat > ") or ".py " not in first:
            continue
        for node in ast.walk(ast.parse("\n".join(lines[:-1]))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("hedgerow"):
                yield from ((node.module, name.name) for name in node.names)


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_context_exports_five_to_ten_names(context: str) -> None:
    assert 5 <= len(import_module(context).__all__) <= 10


def test_what_all_controllers_share_is_exported_on_one_page() -> None:
    assert len(import_module("hedgerow.machinery").__all__) <= 45


@pytest.mark.parametrize("name", ["hedgerow.machinery", *CONTEXTS])
def test_everything_that_is_exported_is_there(name: str) -> None:
    module = import_module(name)

    assert [each for each in module.__all__ if not hasattr(module, each)] == []


@pytest.mark.parametrize("page", PAGES)
def test_pages_for_tool_builders_import_what_is_exported(page: str) -> None:
    used = [*imported(page)]

    assert any(module == "hedgerow.machinery" for module, _ in used)
    for module, name in used:
        offered = TOOLS.get(module) or import_module(module).__all__
        assert name in offered, f"{module}.{name}"
        assert module in {"hedgerow.machinery", *CONTEXTS, *TOOLS}


def test_a_controller_of_ones_own_takes_sixty_lines() -> None:
    text = (DOCS / "own-controllers.md").read_text(encoding="utf-8")
    program = next(each.script for each in commands_of(text) if each.script.startswith("cat > limits.py"))

    assert len(program.splitlines()) - 2 <= 60
