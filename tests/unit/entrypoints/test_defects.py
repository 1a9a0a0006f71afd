"""What users see of a controller that has a defect."""

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from hedgerow.machinery.controller import Context
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Decision, Plan
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_entrypoints.cli import plan, simulate
from hedgerow_entrypoints.cli.controllers import Chosen
from tests.unit.entrypoints.command_line import CART, CART_TABLE, NAMESPACE, Hedgerow

OBJECTS = NAMESPACE + CART + CART.replace("cart", "till")
CRASH = "the turn of networkpolicy about shop/till crashed: ZeroDivisionError: of the till"


@pytest.fixture(autouse=True)
def _crashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The controllers that are chosen crash about the till."""
    for module in (plan, simulate):
        _make_crash(monkeypatch, module)


def _make_crash(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> None:
    choose = module.chosen_controllers

    def crashing(chosen: Chosen) -> Chosen:
        decide = chosen.controller.reconcile

        def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[Any]) -> Plan | Decision:
            if key.name == "till":
                raise ZeroDivisionError("of the till")
            return decide(key, snapshot, context)

        return chosen._replace(controller=replace(chosen.controller, reconcile=reconcile))

    def chosen_controllers(*asked: Any) -> Sequence[Chosen]:
        return [crashing(each) for each in choose(*asked)]

    monkeypatch.setattr(module, "chosen_controllers", chosen_controllers)


def test_a_plan_that_crashes_is_an_error_of_its_object_and_the_others_are_shown(hedgerow: Hedgerow) -> None:
    ended = hedgerow("plan", "networkpolicy", "-f", "-", "-o", "table", stdin=OBJECTS)

    assert (ended.code, ended.out) == (1, CART_TABLE)
    assert ended.err.endswith(f"Service shop/till: {CRASH}\n2 to create, 1 error\n")


def test_a_simulation_that_crashes_ends_with_a_sentence(hedgerow: Hedgerow) -> None:
    ended = hedgerow("simulate", "networkpolicy", "-f", "-", stdin=OBJECTS)

    assert ended == (1, "", f"error: {CRASH}\n")


def test_what_has_happened_before_a_crash_is_shown_and_summed_up(hedgerow: Hedgerow) -> None:
    ended = hedgerow("simulate", "networkpolicy", "-f", "-", "--for", "1d", stdin=OBJECTS)

    assert ended.code == 1
    assert "shop/cart" in ended.out
    assert ended.err.startswith(f"error: {CRASH}\n1 turn; 2 created, 1 error; ")
