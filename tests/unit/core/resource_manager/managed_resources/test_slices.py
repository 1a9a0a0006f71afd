"""Turns about many objects: they pause after each slice of their work, and do the same as without."""

import pytest

from hedgerow.machinery.documents import budget as budgets
from hedgerow.machinery.documents.budget import ReadingBudget
from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.decoding import decoded_secrets
from tests.unit.core.resource_manager.managed_resources.harness import (
    CONFIG_MAPS,
    Harness,
    Report,
    config_map,
    managed_resource,
    secret,
)

MANY = 300


def objects(value: str, count: int = 20) -> list[Manifest]:
    return [config_map(f"entry-{number:03}", {"k": value}) for number in range(count)]


def history() -> tuple[list[Report], Harness]:
    """Objects are made, changed, edited by hand, left out and given up; one fails meanwhile."""
    harness = Harness()
    harness.put(secret(k=objects("1")), managed_resource("secret"))
    reports = [harness.turn()]
    unnamed = {**config_map("unnamed"), "metadata": {}}
    harness.put(secret(k=[*objects("2", 15), unnamed, *objects("3", 3)]))
    reports += [harness.turn(), harness.turn()]
    ignored = config_map("entry-000", annotations={"resources.gardener.cloud/mode": "Ignore"})
    harness.patch(CONFIG_MAPS, "entry-007", {"data": {"k": "by hand"}})
    harness.put(secret(k=[*objects("4", 15)[1:], ignored]))
    return [*reports, harness.turn(), harness.turn(), harness.turn()], harness


def test_slices_make_no_difference_to_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, harness = history()
    monkeypatch.setattr(budgets, "SLICE", 1)
    sliced, sliced_harness = history()

    assert [each.writes for each in sliced] == [each.writes for each in whole]
    assert [each.events for each in sliced] == [each.events for each in whole]
    assert sliced_harness.managed_resource()["status"] == harness.managed_resource()["status"]
    assert sliced_harness.target.objects(CONFIG_MAPS) == harness.target.objects(CONFIG_MAPS)
    assert sum(each.pauses for each in sliced) > 100
    assert harness.said()["ResourcesApplied"] == "True/ApplySucceeded"


def test_a_turn_about_many_objects_pauses_beyond_what_it_takes_to_decode_them() -> None:
    harness, delivered = Harness(), secret(k=objects("1", MANY))
    harness.put(delivered, managed_resource("secret"))
    slices_to_decode = len([*decoded_secrets({"secret": delivered}, lambda _: (), ReadingBudget())])

    report = harness.turn()

    assert report.pauses > slices_to_decode + MANY // 10
