"""Rounds of the garbage collector in clusters that answer, refuse, and change."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.api.kubernetes import CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, OLD_CRON_JOBS, SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.controller import SINGLETON
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import ApiError
from hedgerow.machinery.questions import Answer, Found, ListQuestion, NotAnswered, Question
from hedgerow.resource_manager.garbage_collection.controller import (
    GarbageCollectorConfig,
    garbage_collector,
    user_resources,
)
from tests.unit.core.resource_manager.turns import NOW, Clusters, Course, take_turn

LABEL = "resources.gardener.cloud/garbage-collectable-reference"
PREFIX = "reference.resources.gardener.cloud/"
PODS = Resource("", "v1", "pods", "Pod")
USERS = user_resources(old_cron_jobs=False)
HOUR = 3600.0


def candidate(
    name: str, namespace: str = "shop", *, label: str | None = "true", age: timedelta = timedelta(hours=1)
) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "uid": f"{namespace}/{name}", "resourceVersion": "1"}
    labels = {} if label is None else {"labels": {LABEL: label}}
    return {"metadata": {**metadata, **labels, "creationTimestamp": (NOW - age).strftime("%Y-%m-%dT%H:%M:%SZ")}}


def user(name: str, refers_to: Iterable[str], namespace: str = "shop", *, kind: str = "configmap") -> dict[str, Any]:
    annotations = {f"{PREFIX}{kind}-{number:08}": each for number, each in enumerate(refers_to)}
    return {"metadata": {"name": name, "namespace": namespace, "annotations": annotations}}


def landscape(
    *config_maps: Manifest, secrets: Iterable[Manifest] = (), users: dict[Resource, list[Manifest]] | None = None
) -> Clusters:
    empty: dict[Resource, list[Manifest]] = {resource: [] for resource in USERS}
    return Clusters.of(target={**empty, SECRETS: list(secrets), CONFIG_MAPS: list(config_maps), **(users or {})})


def a_round(clusters: Clusters, *namespaces: str) -> Course:
    return take_turn(clusters, garbage_collector(GarbageCollectorConfig(namespaces=namespaces)), SINGLETON)


def left(clusters: Clusters, resource: Resource = CONFIG_MAPS) -> set[str]:
    return {str(key) for key in clusters.target[resource]}


def test_a_round_without_candidates_asks_for_these_alone() -> None:  # GC-1 GC-2
    clusters = landscape(candidate("one", label=None), candidate("two", label="yes"))  # GC-13

    course = a_round(clusters)

    assert [question.resource for question in course.questions] == [SECRETS, CONFIG_MAPS]
    assert course.actions == []
    assert course.end.requeue_after == HOUR


def test_what_nothing_refers_to_is_deleted() -> None:  # GC-3 GC-10
    clusters = landscape(
        candidate("test-1234"),
        candidate("test-5678"),
        secrets=[candidate("test-5678")],
        users={PODS: [user("pod", ["test-5678"])]},
    )

    course = a_round(clusters)

    assert left(clusters) == {"shop/test-5678"}
    assert left(clusters, SECRETS) == set()
    assert course.end.requeue_after == HOUR
    assert not course.end.failures
    assert a_round(clusters).actions == []


@pytest.mark.parametrize("resource", USERS, ids=str)
def test_every_kind_of_user_counts(resource: Resource) -> None:  # GC-4
    clusters = landscape(candidate("one"), users={resource: [user("user", ["one"])]})

    a_round(clusters)

    assert left(clusters) == {"shop/one"}


def test_old_cron_jobs_are_users_where_they_are_served_and_not_asked_for_where_they_are_not() -> None:  # GC-5
    old = landscape(candidate("one"), users={OLD_CRON_JOBS: [user("user", ["one"])]})
    new = landscape(candidate("one"))

    a_round(old)
    course = a_round(new)

    assert left(old) == {"shop/one"}
    assert left(new) == set()
    assert OLD_CRON_JOBS not in {question.resource for question in course.questions}


def test_a_user_in_another_namespace_does_not_count() -> None:  # GC-6
    clusters = landscape(candidate("one"), candidate("one", "back"), users={PODS: [user("pod", ["one"], "back")]})

    a_round(clusters)

    assert left(clusters) == {"back/one"}


def test_what_is_young_is_spared() -> None:  # GC-7
    clusters = landscape(candidate("one", age=timedelta(minutes=5)))

    course = a_round(clusters)

    assert left(clusters) == {"shop/one"}
    assert len(course.questions) == 2


def test_there_are_no_managed_resources_where_they_are_not_served() -> None:
    clusters = landscape(candidate("one"))
    del clusters.target[MANAGED_RESOURCES]

    a_round(clusters)

    assert left(clusters) == set()


def definition(*, age: timedelta, **metadata: str) -> Manifest:
    created = (NOW - age).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"metadata": {"name": str(MANAGED_RESOURCES), "creationTimestamp": created, **metadata}}


def a_round_in_one_cluster(clusters: Clusters) -> Course:
    return take_turn(clusters, garbage_collector(GarbageCollectorConfig(has_managed_resources=True)), SINGLETON)


LOST = {
    "gone": None,
    "in deletion": definition(age=timedelta(days=1), deletionTimestamp="2026-01-01T00:00:00Z"),
    "created anew, its objects are not restored yet": definition(age=timedelta(minutes=1)),
}


@pytest.mark.parametrize("found", LOST.values(), ids=LOST)
def test_secrets_stay_while_the_definition_of_managed_resources_is_lost(found: Manifest | None) -> None:
    old = candidate("old", age=timedelta(hours=2))
    clusters = landscape(candidate("one"), secrets=[candidate("one"), old])
    clusters.source = clusters.target
    clusters.target[CUSTOM_RESOURCE_DEFINITIONS] = {}
    if found is None:
        del clusters.target[MANAGED_RESOURCES]
    else:
        clusters.put(CUSTOM_RESOURCE_DEFINITIONS, found)

    course = a_round_in_one_cluster(clusters)

    assert left(clusters, SECRETS) == {"shop/one", "shop/old"}
    assert left(clusters) == set(), "ConfigMaps are no business of ManagedResources"
    (event,) = course.end.events
    assert (event.key, event.reason) == (ObjectKey("shop", "old"), "DefinitionTerminating")
    assert event.note.startswith("the definition of ManagedResource is gone, in deletion or created anew, so unused")
    assert course.end.requeue_after == HOUR
    assert not course.end.failures


def test_secrets_are_deleted_while_an_older_definition_of_managed_resources_stays() -> None:
    clusters = landscape(secrets=[candidate("one")])
    clusters.source = clusters.target
    clusters.target[CUSTOM_RESOURCE_DEFINITIONS] = {}
    clusters.put(CUSTOM_RESOURCE_DEFINITIONS, definition(age=timedelta(days=1)))

    course = a_round_in_one_cluster(clusters)

    assert left(clusters, SECRETS) == set()
    assert not course.end.events


def test_secrets_stay_while_nobody_knows_whether_the_definition_of_managed_resources_is_lost() -> None:
    clusters = landscape(candidate("one"), secrets=[candidate("one")])
    clusters.broken = lambda question: question.resource == CUSTOM_RESOURCE_DEFINITIONS

    course = a_round_in_one_cluster(clusters)

    assert (left(clusters, SECRETS), left(clusters)) == ({"shop/one"}, set())
    text = "could not read whether the definition is being deleted, so no Secret is: the server is on fire"
    assert course.problems == [text]
    assert course.end.failures[0].retryable


@pytest.mark.parametrize("resource", [each for each in USERS if each != MANAGED_RESOURCES], ids=str)
def test_a_built_in_kind_that_seems_not_to_be_served_keeps_everything(resource: Resource) -> None:
    clusters = landscape(candidate("one"))
    del clusters.target[resource]

    course = a_round(clusters)

    assert course.actions == []
    assert course.end.failures[0].retryable


@pytest.mark.parametrize("resource", [SECRETS, CONFIG_MAPS, *USERS], ids=str)
def test_a_list_that_fails_keeps_everything(resource: Resource) -> None:  # GC-11
    clusters = landscape(candidate("one"), secrets=[candidate("one")])
    clusters.broken = lambda question: question.resource == resource

    course = a_round(clusters)

    assert course.actions == []
    assert course.problems == ["cannot be listed: the server is on fire"]
    assert course.end.failures[0].retryable


@pytest.mark.parametrize("resource", [SECRETS, CONFIG_MAPS, *USERS], ids=str)
def test_a_list_that_is_answered_by_a_404_that_proves_nothing_keeps_everything(resource: Resource) -> None:
    clusters = landscape(candidate("one"), secrets=[candidate("one")])
    clusters.broken = lambda question: question.resource == resource
    clusters.breakage = NotAnswered(404, "", "the answer 404 is no Status of an API server: 404 page not found")

    course = a_round(clusters)

    assert course.actions == []
    assert course.end.failures[0].retryable


def test_that_nobody_can_tell_whether_old_cron_jobs_are_served_keeps_everything() -> None:
    clusters = landscape(candidate("one"))
    clusters.lookups[Kind("batch/v1beta1", "CronJob")] = NotAnswered(500, "", "no discovery")

    course = a_round(clusters)

    assert course.actions == []
    assert course.problems == ["cannot be looked up: no discovery"]


def test_deletions_that_fail_are_told_together_after_the_others() -> None:  # GC-12
    clusters = landscape(candidate("a"), candidate("b"), candidate("c"), secrets=[candidate("d")])
    clusters.refused[ObjectKey("shop", "b")] = ApiError(500, "InternalError", "no")

    one = a_round(clusters)

    assert left(clusters) == {"shop/b"}
    assert left(clusters, SECRETS) == set()
    assert one.problems == ['Could not delete all unused resources: 1 error occurred: ConfigMap "shop/b": no']
    assert one.end.failures[0].retryable

    clusters.put(CONFIG_MAPS, candidate("e"))
    clusters.refused[ObjectKey("shop", "e")] = ApiError(0, "", "no answer")

    two = a_round(clusters)

    errors = 'ConfigMap "shop/b": no, ConfigMap "shop/e": no answer'
    assert two.problems == [f"Could not delete all unused resources: 2 errors occurred: [{errors}]"]


@pytest.mark.parametrize(("code", "reason"), [(404, "NotFound"), (409, "Conflict")])
def test_what_is_gone_or_has_changed_meanwhile_is_left_to_the_next_round(code: int, reason: str) -> None:
    clusters = landscape(candidate("one"))
    clusters.refused[ObjectKey("shop", "one")] = ApiError(code, reason, "too late")

    course = a_round(clusters)

    assert not course.end.failures
    assert course.end.requeue_after == HOUR


def test_only_the_configured_namespaces_are_looked_at() -> None:
    clusters = landscape(candidate("one"), candidate("one", "back"), candidate("one", "kitchen"))

    course = a_round(clusters, "shop", "kitchen")

    assert left(clusters) == {"back/one"}
    assert {namespace_of(question) for question in course.questions} == {"shop", "kitchen"}


def namespace_of(question: Question) -> str:
    assert isinstance(question, ListQuestion)
    assert question.metadata_only
    return question.namespace


def many(number: int) -> list[Manifest]:
    return [candidate(f"c{each:03}") for each in range(number)]


@pytest.mark.parametrize(("unused", "used", "twice"), [(20, 0, False), (21, 0, True), (30, 70, False), (31, 69, True)])
def test_only_very_many_deletions_need_the_users_listed_twice(
    unused: int,
    used: int,
    twice: bool,  # noqa: FBT001 -- a column of the table
) -> None:
    names = [each["metadata"]["name"] for each in many(unused + used)]
    clusters = landscape(*many(unused + used), users={PODS: [user("pod", names[unused:])]})

    course = a_round(clusters)

    assert len(left(clusters)) == used
    lists = [question for question in course.questions if question.resource == PODS]
    assert len(lists) == (2 if twice else 1)


@dataclass
class Forgetful(Clusters):
    """Clusters whose first list of users is empty, as that of a server which has just come up with an old state."""

    listed: set[Question] = field(default_factory=set)

    def answer(self, question: Question) -> Answer:
        if isinstance(question, ListQuestion) and question.resource in USERS and question not in self.listed:
            self.listed.add(question)
            return Found(())
        return super().answer(question)


def test_a_first_list_without_the_users_deletes_nothing_on_a_large_scale() -> None:
    names = [each["metadata"]["name"] for each in many(50)]
    whole = landscape(*many(50), users={PODS: [user("pod", names)]})
    clusters = Forgetful(whole.target)

    course = a_round(clusters)

    assert course.actions == []
    assert len(left(clusters)) == 50


NAMES = st.sampled_from("abcd")
SPACES = st.sampled_from(("shop", "back"))
CANDIDATES = st.dictionaries(
    st.tuples(SPACES, NAMES), st.tuples(st.sampled_from(("true", "yes", None)), st.sampled_from((5, 60))), max_size=8
)
REFERENCES = st.lists(st.tuples(SPACES, st.lists(NAMES, max_size=2), st.sampled_from(USERS)), max_size=4)


@given(CANDIDATES, REFERENCES)
def test_a_round_deletes_all_garbage_and_nothing_else(
    candidates: dict[tuple[str, str], tuple[str | None, int]], references: list[tuple[str, list[str], Resource]]
) -> None:
    users: dict[Resource, list[Manifest]] = {}
    for number, (space, names, resource) in enumerate(references):
        users.setdefault(resource, []).append(user(f"u{number}", names, space))
    stored = [
        candidate(name, space, label=label, age=timedelta(minutes=age))
        for (space, name), (label, age) in candidates.items()
    ]
    clusters = landscape(*stored, users=users)
    used = {(space, name) for space, names, _ in references for name in names}
    garbage = {key for key, (label, age) in candidates.items() if label == "true" and age == 60 and key not in used}

    a_round(clusters)

    assert {tuple(key) for key in clusters.target[CONFIG_MAPS]} == set(candidates) - garbage
    assert sum(len(clusters.target[resource]) for resource in USERS) == len(references)
    assert a_round(clusters).actions == []
