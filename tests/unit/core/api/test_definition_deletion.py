"""Whether an object goes only because its definition does."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import pytest

from hedgerow.api.definition_deletion import goes_with_definition, kept, lost_definition, reads_definitions
from hedgerow.api.kubernetes import CUSTOM_RESOURCE_DEFINITIONS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS, CONTROLLER_REGISTRATIONS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.questions import Answer, Found, ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.steps import AtOnce, Step

T = TypeVar("T")
NAME = "managedresources.resources.gardener.cloud"
AT_NOON = "2026-01-01T12:00:00Z"
OBJECT = {"metadata": {"namespace": "n", "name": "mr", "uid": "u", "deletionTimestamp": AT_NOON}}
ABSENT = NotAnswered(404, "NotFound", f'customresourcedefinitions "{NAME}" not found')
UNSERVED = NotAnswered(404, "", "the server could not find the requested resource")
FORBIDDEN = NotAnswered(403, "Forbidden", "you may not")
CALM = Found(({"metadata": {"name": NAME, "creationTimestamp": "2026-01-01T11:00:00Z"}},))
ENDING = Found(({"metadata": {"name": NAME, "deletionTimestamp": AT_NOON}},))


def result_of(decision: Coroutine[Any, Any, T], answer: Callable[[Question], Answer]) -> T:
    """What a decision that only asks comes to."""

    def replied(step: Step[Any]) -> Any:
        if isinstance(step, AtOnce):
            return tuple(map(replied, step.steps))
        assert isinstance(step, ObjectQuestion | ListQuestion)
        return answer(step)

    try:
        step = decision.send(None)
        while True:
            step = decision.send(replied(step))
    except StopIteration as end:
        found: T = end.value
        return found


def answers(definition: Answer, served: Answer = FORBIDDEN) -> Callable[[Question], Answer]:
    return lambda question: definition if question.resource == CUSTOM_RESOURCE_DEFINITIONS else served


def there(*objects: Manifest) -> Found:
    return Found(objects)


@pytest.mark.parametrize(
    ("definition", "served", "goes"),
    [
        pytest.param(ENDING, FORBIDDEN, True, id="it is being deleted"),
        pytest.param(CALM, FORBIDDEN, False, id="it stays"),
        pytest.param(there({"metadata": {"creationTimestamp": AT_NOON}}), FORBIDDEN, False, id="it is as old"),
        pytest.param(
            there({"metadata": {"creationTimestamp": "2026-01-01T12:00:01Z"}}), FORBIDDEN, True, id="it is a later one"
        ),
        pytest.param(there({"metadata": {}}), FORBIDDEN, False, id="nobody knows its age"),
        pytest.param(ABSENT, there(OBJECT), False, id="there is none, and the object exists"),
        pytest.param(ABSENT, there(), True, id="both are gone"),
        pytest.param(ABSENT, there({"metadata": {"uid": "another"}}), True, id="it is gone, another has the name"),
        pytest.param(ABSENT, UNSERVED, UNSERVED, id="it is gone, and so is the resource"),
        pytest.param(FORBIDDEN, there(OBJECT), FORBIDDEN, id="it may not be read"),
        pytest.param(UNSERVED, there(OBJECT), UNSERVED, id="a 404 proves nothing"),
    ],
)
def test_an_object_goes_with_its_definition_if(definition: Answer, served: Answer, *, goes: bool | NotAnswered) -> None:
    decision = goes_with_definition(MANAGED_RESOURCES, OBJECT, Cluster.SOURCE)

    assert result_of(decision, answers(definition, served)) == goes


def test_the_definition_and_the_object_are_read_live_and_by_name() -> None:
    asked: list[Question] = []

    def answer(question: Question) -> Answer:
        asked.append(question)
        return answers(ABSENT, there(OBJECT))(question)

    result_of(goes_with_definition(MANAGED_RESOURCES, OBJECT, Cluster.SOURCE), answer)

    first, second = asked
    assert isinstance(first, ObjectQuestion)
    assert (first.resource, first.key.name, first.cluster) == (CUSTOM_RESOURCE_DEFINITIONS, NAME, Cluster.SOURCE)
    assert second.resource == MANAGED_RESOURCES
    assert getattr(second, "field_selector", "") == "metadata.name=mr"
    assert getattr(second, "namespace", "") == "n"


@pytest.mark.parametrize(
    ("definitions", "served", "lost"),
    [
        pytest.param([CALM, CALM], FORBIDDEN, None, id="none"),
        pytest.param([CALM, ENDING], FORBIDDEN, CONTROLLER_INSTALLATIONS, id="the second"),
        pytest.param([ABSENT, ABSENT], there(), None, id="an aggregated API has none"),
        pytest.param([CALM, ABSENT], UNSERVED, UNSERVED, id="one is gone"),
        pytest.param([ABSENT, ENDING], there(), CONTROLLER_INSTALLATIONS, id="one of two APIs has them"),
        pytest.param([FORBIDDEN, CALM], there(), FORBIDDEN, id="one may not be read"),
    ],
)
def test_of_several_definitions_the_first_is_lost_that_is_being_deleted(
    definitions: Sequence[Answer], served: Answer, lost: object
) -> None:
    resources = (CONTROLLER_REGISTRATIONS, CONTROLLER_INSTALLATIONS)
    by_name: Mapping[str, Answer] = dict(zip(map(str, resources), definitions, strict=True))

    def answer(question: Question) -> Answer:
        return by_name[question.key.name] if isinstance(question, ObjectQuestion) else served

    assert result_of(lost_definition(resources, Cluster.SOURCE, unwanted=()), answer) == lost


@pytest.mark.parametrize(
    ("created", "unwanted", "lost"),
    [
        pytest.param("2026-01-01T12:00:01Z", ["2026-01-01T13:00:00Z", AT_NOON], True, id="younger than one of them"),
        pytest.param(AT_NOON, [AT_NOON, "2026-01-01T13:00:00Z"], False, id="as old as the oldest"),
        pytest.param(AT_NOON, [None], False, id="nobody knows how old they are"),
    ],
)
def test_a_definition_that_was_created_after_what_is_unwanted_may_have_been_lost(
    created: str, unwanted: Sequence[str | None], *, lost: bool
) -> None:
    definition = there({"metadata": {"creationTimestamp": created}})
    objects = [{"metadata": {"creationTimestamp": each}} for each in unwanted]

    decision = lost_definition([CONTROLLER_REGISTRATIONS], Cluster.SOURCE, unwanted=objects)

    assert result_of(decision, answers(definition)) == (CONTROLLER_REGISTRATIONS if lost else None)


def test_only_these_definitions_may_be_read() -> None:
    permission = reads_definitions(MANAGED_RESOURCES, CONTROLLER_INSTALLATIONS, cluster=Cluster.SOURCE)

    assert (permission.plural, permission.verbs, permission.cluster) == (
        "customresourcedefinitions",
        ("get",),
        Cluster.SOURCE,
    )
    assert permission.names == (NAME, "controllerinstallations.core.gardener.cloud")


def test_the_event_says_what_stays_and_why() -> None:
    own = kept(MANAGED_RESOURCES, OBJECT, "the objects stay", Cluster.SOURCE)
    others = kept(MANAGED_RESOURCES, OBJECT, "all stays", Cluster.TARGET, lost=CONTROLLER_INSTALLATIONS)

    assert (own.type, own.reason, own.uid, own.cluster) == ("Warning", "DefinitionTerminating", "u", Cluster.SOURCE)
    assert own.note == "the definition of ManagedResource is being deleted, so the objects stay"
    assert others.note == "the definition of ControllerInstallation is gone, in deletion or created anew, so all stays"
