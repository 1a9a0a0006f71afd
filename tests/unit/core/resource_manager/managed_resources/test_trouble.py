"""What is said, kept and tried again when something fails; MR-… are the examples of managed-resources §7.14."""

from typing import Any, Final

import pytest

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES, OPERATION
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.plan import Action, ApiError, Create, JsonPatch, MergePatch, WriteResult
from hedgerow.machinery.questions import NotAnswered, ObjectQuestion, Question
from tests.unit.core.resource_manager.managed_resources.harness import (
    CONFIG_MAPS,
    KEY,
    Harness,
    config_map,
    managed_resource,
    secret,
)

NAMELESS_KIND = '{"metadata":{"creationTimestamp":null}}'


def harness(*secrets: Manifest, **spec: Any) -> Harness:
    made = Harness()
    made.put(*secrets, managed_resource(*(each["metadata"]["name"] for each in secrets), **spec))
    return made


class TestSecretThatCannotBeRead:
    def test_mr_4_is_told_and_tried_again(self) -> None:
        made = Harness()
        made.put(managed_resource("foo"))

        report = made.turn()

        assert made.said() == {"ResourcesApplied": "False/CannotReadSecret"}
        assert made.condition().message == 'secrets "foo" not found'
        assert [failure.problem.text for failure in report.plan.failures] == [
            "spec.secretRefs[0].name: could not read secret 'foo': secrets \"foo\" not found"
        ]
        assert report.plan.failures[0].retryable
        assert report.events == ('Warning CannotReadSecret: secrets "foo" not found',)
        again = made.turn()
        assert (again.writes, again.events) == ([], ())

    def test_nothing_is_deleted_meanwhile(self) -> None:
        made = harness(secret("one", objects=[config_map("a")]), secret("two", objects=[config_map("b")]))
        made.turn()
        made.delete(SECRETS, "one")

        made.turn()

        assert made.get(CONFIG_MAPS, "a") is not None
        assert made.references() == ["ConfigMap/a", "ConfigMap/b"]

    def test_a_reference_without_a_name_is_no_reference_to_nothing(self) -> None:
        made = harness(secret(objects=[config_map("a")]))
        made.turn()
        made.put(managed_resource(""))

        made.turn()

        assert made.condition().message == "resource name may not be empty"
        assert made.get(CONFIG_MAPS, "a") is not None

    def test_it_is_told_when_all_is_well_again(self) -> None:
        made = Harness()
        made.put(managed_resource("secret"))
        made.turn()
        made.put(secret(objects=[config_map("a")]))

        assert made.turn().events == ("Normal ApplySucceeded: All resources are applied.",)


class TestSilenceOfTheApiServer:
    SILENCE: Final = NotAnswered(500, "", "would wait behind other requests")

    def restarted(self) -> Harness:
        made = harness(secret(objects=[config_map("a"), config_map("b"), config_map("c")]))
        made.turn()
        made.restart()
        return made

    @pytest.mark.parametrize("silent", ["b", "secret"])
    def test_says_nothing_about_objects(self, silent: str) -> None:
        made = self.restarted()
        made.answer = lambda question: self.SILENCE if getattr(question, "key", KEY).name == silent else None

        report = made.turn()

        assert (report.writes, report.events) == ([], ())
        assert made.said()["ResourcesApplied"] == "True/ApplySucceeded"
        (failure,) = report.plan.failures
        assert failure.retryable
        assert self.SILENCE.message in failure.problem.text

    def test_about_one_object_keeps_later_ones_from_being_created(self) -> None:
        made = self.restarted()
        made.put(secret(objects=[config_map("a"), config_map("b"), config_map("c"), config_map("new")]))
        made.answer = lambda question: self.SILENCE if getattr(question, "key", KEY).name == "b" else None

        report = made.turn()

        assert made.get(CONFIG_MAPS, "new") is None
        assert self.SILENCE.message in report.plan.failures[0].problem.text
        made.answer = lambda _question: None
        made.turn()
        assert made.get(CONFIG_MAPS, "new") is not None

    def test_says_nothing_about_objects_that_are_to_go(self) -> None:
        made = harness(secret(objects=[config_map("a", finalizers=["example.com/held"])]))
        made.turn()
        made.delete(MANAGED_RESOURCES, KEY.name)
        made.turn()
        made.turn()
        before = made.condition()
        made.answer = lambda question: self.SILENCE if getattr(question, "key", KEY).name == "a" else None

        report = made.turn()

        assert (made.condition(), report.writes) == (before, [])
        assert report.plan.failures[0].retryable

    def test_is_no_reason_to_ask_again_what_was_answered(self) -> None:
        made = self.restarted()
        made.answer = lambda question: self.SILENCE if getattr(question, "key", KEY).name == "b" else None
        made.turn()
        made.answer = lambda _question: None

        report = made.turn()

        asked = {question.key.name for question in report.questions if isinstance(question, ObjectQuestion)}
        assert asked == {"secret", "b"}
        assert not report.plan.failures

    def test_what_the_server_says_itself_is_told(self) -> None:
        made = self.restarted()
        broken = NotAnswered(500, "InternalError", "etcd is away")
        made.answer = lambda question: broken if getattr(question, "key", KEY).name == "b" else None

        made.turn()

        assert made.condition().message == 'error during apply of object "v1/ConfigMap/default/b": etcd is away'


class TestCreationThatIsRefusedForAnyReason:
    def test_of_objects_that_exist_leads_to_a_look_at_all_others_at_once(self) -> None:
        objects = [config_map(f"a{number:03}") for number in range(100)]
        made = harness(secret(objects=objects))
        made.put(*({**each, "data": {"k": "old"}} for each in objects))
        quota = ApiError(403, "Forbidden", "exceeded quota")
        made.after_write = lambda outcome: (
            WriteResult(outcome.action, error=quota) if isinstance(outcome.action, Create) else outcome
        )

        report = made.turn()

        assert made.said()["ResourcesApplied"] == "True/ApplySucceeded"
        assert made.live(CONFIG_MAPS, "a099")["data"] == {"k": "v"}
        assert report.waits < 10


class TestDocumentThatCannotBeApplied:
    def test_mr_5_it_says_not_what_it_is(self) -> None:
        made = harness(secret(objects=NAMELESS_KIND))

        made.turn()

        assert made.said()["ResourcesApplied"] == "False/ApplyFailed"
        assert made.condition().message.startswith("error during apply of object ")

    def test_mr_6_what_was_applied_before_stays(self) -> None:
        made = harness(secret(objects=[config_map("a")]))
        made.turn()
        made.put(secret(objects=[config_map("a")], more=NAMELESS_KIND))

        made.turn()

        assert made.said()["ResourcesApplied"] == "False/ApplyFailed"
        assert made.references() == ["ConfigMap/a"]
        assert made.get(CONFIG_MAPS, "a") is not None

    def test_mr_42_what_was_said_is_kept_while_it_is_tried_again(self) -> None:
        made = harness(secret(objects=NAMELESS_KIND))
        made.turn()
        before = made.condition().message
        seen = []

        def look(action: Action) -> None:
            if action.resource == CONFIG_MAPS:
                seen.append((made.said()["ResourcesApplied"], made.condition().message))

        made.before_write = look
        made.put(secret(objects=[config_map("a")]))

        made.turn()

        assert seen == [("Progressing/ApplyFailed", before)]

    def test_to_try_again_in_vain_writes_nothing(self) -> None:
        made = harness(secret(objects=[config_map("a")], nameless=NAMELESS_KIND))
        made.turn()

        report = made.turn()

        assert (report.writes, report.events) == ([], ())
        assert report.plan.failures[0].retryable

    def test_a_label_that_is_no_text_is_named(self) -> None:
        made = harness(secret(objects=[config_map("a", labels={"a": 1})]))

        made.turn()

        assert made.condition().message == (
            'error during apply of object "v1/ConfigMap/default/a": metadata.labels["a"] must be a string'
        )

    def test_a_template_that_takes_no_labels_is_named(self) -> None:
        made = harness(secret(objects=[{**config_map("a"), "spec": {"template": "what?"}}]))

        made.turn()

        text = '"v1/ConfigMap/default/a"'
        assert made.condition().message == (
            f"error during apply of object {text}: error injecting labels into object {text}: "
            "spec.template: expected an object, got a string"
        )


class TestDocumentThatCannotBeDecoded:
    def test_mr_40_everything_else_is_applied(self) -> None:
        made = harness(secret(a="a: [", b=[config_map("b")]))

        report = made.turn()

        assert made.get(CONFIG_MAPS, "b") is not None
        assert made.said()["ResourcesApplied"] == "False/DecodingFailed"
        message = made.condition().message
        place = "index 0 in 'a' in secret 'default/secret'"
        assert message.startswith(f"Could not decode all new resources: [Could not decode resource at {place}: ")
        assert message.endswith(".]")
        (failure,) = report.plan.failures
        assert str(failure) == f"ManagedResource default/example: c{message.removeprefix('C')}"
        assert (report.plan.requeue_after, failure.retryable) == (60, False)
        assert report.outcomes[-1].action.reason == "DecodingFailed"
        assert made.turn().requests == 0

    def test_mr_41_what_it_described_before_stays(self) -> None:
        made = harness(secret(a=[config_map("a")], b=[config_map("b")]))
        made.turn()
        made.put(secret(a="a: [", b=[config_map("b")]))

        made.turn()

        assert made.get(CONFIG_MAPS, "a") is not None
        assert made.references() == ["ConfigMap/a", "ConfigMap/b"]

    def test_it_is_told_when_all_is_well_again(self) -> None:
        made = harness(secret(a="a: ["))
        assert made.turn().events[0].startswith("Warning DecodingFailed: ")
        made.put(secret(a=[config_map("a")]))

        assert made.turn().events == ("Normal ApplySucceeded: All resources are applied.",)


def test_an_object_that_stands_in_several_secrets_is_applied_once_and_told_about() -> None:
    made = harness(secret("one", objects=[config_map("a", {"k": "1"})]), secret("two", objects=[config_map("a")]))

    report = made.turn()

    assert made.live(CONFIG_MAPS, "a")["data"] == {"k": "v"}
    assert report.events == (
        'Warning RepeatedResources: only the last of several manifests is applied of "/ConfigMap/default/a"',
    )
    assert made.turn().requests == 0


def test_a_finalizer_that_somebody_else_adds_at_the_same_time_is_not_lost() -> None:
    made = harness(secret(objects=[config_map("a")]))

    def meddle(action: Action) -> None:
        if isinstance(action, MergePatch):
            made.patch(MANAGED_RESOURCES, KEY.name, {"metadata": {"finalizers": ["example.com/other"]}})

    made.before_write = meddle

    report = made.turn()

    assert report.plan.failures[0].problem.text.startswith("failed to add finalizer: ")
    assert made.get(CONFIG_MAPS, "a") is None
    assert made.managed_resource()["metadata"]["finalizers"] == ["example.com/other"]


def test_a_release_that_comes_too_late_is_made_again() -> None:
    made = harness(secret(objects=[config_map("a")]))
    made.turn()
    made.delete(MANAGED_RESOURCES, KEY.name)
    made.turn()

    def meddle(action: Action) -> None:
        if isinstance(action, MergePatch):
            made.annotate(other="x")

    made.before_write = meddle

    report = made.turn()

    assert report.plan.failures[0].problem.text.startswith("failed to remove finalizer: ")
    assert report.plan.failures[0].retryable
    made.before_write = lambda _action: None
    made.turn()
    assert made.source.get(MANAGED_RESOURCES, KEY) is None


def test_nothing_is_applied_when_the_status_cannot_be_written() -> None:
    made = harness(secret(objects=[config_map("a")]))

    def meddle(action: Action) -> None:
        if isinstance(action, JsonPatch):
            made.annotate(other="x")

    made.before_write = meddle

    report = made.turn()

    assert report.plan.failures[0].problem.text.startswith("could not update the ManagedResource status: ")
    assert made.get(CONFIG_MAPS, "a") is None


def test_what_has_another_shape_than_any_server_stores_is_told_and_harms_nobody() -> None:
    made = harness(secret(objects=[config_map("a")]))
    made.turn()
    made.put(managed_resource("secret", keepObjects="perhaps", equivalences="what?"))

    report = made.turn()

    assert [failure.retryable for failure in report.plan.failures] == [False]
    assert made.get(CONFIG_MAPS, "a") is not None


def refused(made: Harness) -> str:
    """The failure of a turn in which no write of the ManagedResource is accepted."""

    def refuse(result: WriteResult) -> WriteResult:
        is_own = result.action.resource == MANAGED_RESOURCES
        return WriteResult(result.action, error=ApiError(403, "Forbidden", "you may not")) if is_own else result

    made.after_write = refuse
    (failure,) = made.turn().plan.failures
    return failure.problem.text


def test_nothing_is_deleted_when_the_status_of_a_change_cannot_be_written() -> None:
    made = harness(secret(objects=[config_map("a")]))
    made.turn()
    made.put(secret(objects=[config_map("b")]))

    assert refused(made) == "could not update the ManagedResource status: you may not"
    assert made.get(CONFIG_MAPS, "a") is not None
    assert made.get(CONFIG_MAPS, "b") is None


def test_nothing_is_deleted_when_the_status_of_a_deletion_cannot_be_written() -> None:
    made = harness(secret(objects=[config_map("a")]))
    made.turn()
    made.delete(MANAGED_RESOURCES, KEY.name)

    assert refused(made) == "could not update the ManagedResource status: you may not"
    assert made.get(CONFIG_MAPS, "a") is not None


def test_an_operation_does_not_begin_when_its_annotation_cannot_be_removed() -> None:
    made = harness(secret(objects=[config_map("a")]))
    made.turn()
    made.put(secret(objects=[config_map("a", {"k": "2"})]))
    made.annotate(**{OPERATION: "reconcile"})

    assert refused(made) == "failed to remove operation annotation: you may not"
    assert made.live(CONFIG_MAPS, "a")["data"] == {"k": "v"}


def test_a_managed_resource_that_is_gone_when_its_secret_cannot_be_read_is_let_go_without_a_write() -> None:
    made = harness(secret(objects=[config_map("a")]))
    made.turn()
    made.restart()

    def answer(question: Question) -> NotAnswered | None:
        if question.resource != SECRETS:
            return None
        made.patch(MANAGED_RESOURCES, KEY.name, {"metadata": {"finalizers": None}})
        made.delete(MANAGED_RESOURCES, KEY.name)
        return NotAnswered(403, "Forbidden", "you may not")

    made.answer = answer

    report = made.turn()

    assert made.source.get(MANAGED_RESOURCES, KEY) is None
    assert report.writes == []
    assert made.get(CONFIG_MAPS, "a") is not None
