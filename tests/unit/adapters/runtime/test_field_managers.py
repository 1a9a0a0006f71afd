"""Who else writes an object, by its managed fields."""

from typing import Any

import pytest

from hedgerow.api.kubernetes import CONFIG_MAPS
from hedgerow.machinery.objects import FIELD_MANAGER, Manifest, ObjectKey
from hedgerow.machinery.plan import Action, Delete, MergePatch
from hedgerow.machinery.questions import Answer, Found, ListQuestion, NotAnswered
from hedgerow_adapters.runtime.field_managers import other_writers, other_writers_of
from tests.virtual_clock import virtual_time


def entry(manager: str, second: int, **more: Any) -> Manifest:
    return {"manager": manager, "operation": "Update", "time": f"2026-01-01T12:00:{second:02}Z", **more}


def written_by(*entries: Manifest) -> Manifest:
    return {"metadata": {"managedFields": [*entries]}}


OF_STATUS = entry("kubelet", 9, subresource="status")


@pytest.mark.parametrize(
    ("entries", "subresource", "expected"),
    [
        ([], "", ()),
        ([entry(FIELD_MANAGER, 5)], "", ()),
        ([entry(FIELD_MANAGER, 5), entry("rival", 7), entry("creator", 1)], "", ("rival",)),
        ([entry(FIELD_MANAGER, 5), entry("rival", 5), entry("other", 9)], "", ("other", "rival")),
        ([entry("creator", 1), entry("rival", 2)], "", ("rival",)),
        ([entry(FIELD_MANAGER, 5), entry("creator", 1), entry("rival", 2)], "", ("rival",)),
        ([entry(FIELD_MANAGER, 5), entry("rival", 6), OF_STATUS], "", ("rival",)),
        (
            [entry(FIELD_MANAGER, 5), entry("rival", 6), OF_STATUS],
            "status",
            ("kubelet",),
        ),
        ([{"operation": "Update"}, entry("rival", 6)], "", ("rival",)),
    ],
    ids=[
        "none",
        "we alone",
        "one since",
        "two since",
        "without us",
        "nobody since",
        "statuses do not count",
        "statuses alone count",
        "an entry without a name",
    ],
)
def test_who_has_written_since_we_did(entries: list[Manifest], subresource: str, expected: tuple[str, ...]) -> None:
    assert other_writers(written_by(*entries), subresource) == expected


def test_an_object_without_a_record_of_writers_tells_nobody() -> None:
    assert other_writers({}, "") == ()


CART = ObjectKey("shop", "cart")
ACTIONS: list[Action] = [MergePatch(CONFIG_MAPS, CART, {}, "desired"), Delete(CONFIG_MAPS, CART, "gone")]


@pytest.mark.parametrize("action", ACTIONS, ids=["a patch", "a deletion"])
@virtual_time
async def test_the_api_server_is_asked_by_a_list_of_the_one_object(action: Action) -> None:
    asked = list[ListQuestion]()

    async def ask(question: ListQuestion) -> Answer:
        asked.append(question)
        return Found((written_by(entry("rival", 1)),))

    assert await other_writers_of(action, ask) == ("rival",)
    (question,) = asked
    assert (question.namespace, question.field_selector, question.metadata_only) == ("shop", "metadata.name=cart", True)


@pytest.mark.parametrize("answer", [Found(()), NotAnswered(403, "Forbidden", "no")], ids=["gone", "forbidden"])
@virtual_time
async def test_without_an_answer_nobody_is_named(answer: Answer) -> None:
    async def ask(_question: ListQuestion) -> Answer:
        return answer

    assert await other_writers_of(ACTIONS[0], ask) == ()
