"""What is said, kept and tried again when something fails; MR-… are the examples of managed-resources §7.14."""

from typing import Any

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.plan import Action, JsonPatch, MergePatch
from hedgerow.resource_manager.managed_resources.names import MANAGED_RESOURCES, SECRETS
from tests.unit.core.resource_manager.managed_resources.workshop import (
    CONFIG_MAPS,
    KEY,
    Workshop,
    config_map,
    managed_resource,
    secret,
)

NAMELESS_KIND = '{"metadata":{"creationTimestamp":null}}'


def workshop(*secrets: Manifest, **spec: Any) -> Workshop:
    made = Workshop()
    made.put(*secrets, managed_resource(*(each["metadata"]["name"] for each in secrets), **spec))
    return made


class TestSecretThatCannotBeRead:
    def test_mr_4_is_told_and_tried_again(self) -> None:
        made = Workshop()
        made.put(managed_resource("foo"))

        report = made.turn()

        assert made.said() == {"ResourcesApplied": "False/CannotReadSecret"}
        assert made.condition().message == 'secrets "foo" not found'
        assert [failure.problem for failure in report.plan.failures] == [
            "could not read secret 'foo': secrets \"foo\" not found"
        ]
        assert report.plan.failures[0].retryable
        assert report.events == ('Warning CannotReadSecret: secrets "foo" not found',)
        again = made.turn()
        assert (again.writes, again.events) == ([], ())

    def test_nothing_is_deleted_meanwhile(self) -> None:
        made = workshop(secret("one", objects=[config_map("a")]), secret("two", objects=[config_map("b")]))
        made.turn()
        made.delete(SECRETS, "one")

        made.turn()

        assert made.get(CONFIG_MAPS, "a") is not None
        assert made.references() == ["ConfigMap/a", "ConfigMap/b"]

    def test_a_reference_without_a_name_is_no_reference_to_nothing(self) -> None:
        made = workshop(secret(objects=[config_map("a")]))
        made.turn()
        made.put(managed_resource(""))

        made.turn()

        assert made.condition().message == "resource name may not be empty"
        assert made.get(CONFIG_MAPS, "a") is not None

    def test_it_is_told_when_all_is_well_again(self) -> None:
        made = Workshop()
        made.put(managed_resource("secret"))
        made.turn()
        made.put(secret(objects=[config_map("a")]))

        assert made.turn().events == ("Normal ApplySucceeded: All resources are applied.",)


class TestDocumentThatCannotBeApplied:
    def test_mr_5_it_says_not_what_it_is(self) -> None:
        made = workshop(secret(objects=NAMELESS_KIND))

        made.turn()

        assert made.said()["ResourcesApplied"] == "False/ApplyFailed"
        assert made.condition().message.startswith("error during apply of object ")

    def test_mr_6_what_was_applied_before_stays(self) -> None:
        made = workshop(secret(objects=[config_map("a")]))
        made.turn()
        made.put(secret(objects=[config_map("a")], more=NAMELESS_KIND))

        made.turn()

        assert made.said()["ResourcesApplied"] == "False/ApplyFailed"
        assert made.references() == ["ConfigMap/a"]
        assert made.get(CONFIG_MAPS, "a") is not None

    def test_mr_42_what_was_said_is_kept_while_it_is_tried_again(self) -> None:
        made = workshop(secret(objects=NAMELESS_KIND))
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
        made = workshop(secret(objects=[config_map("a")], nameless=NAMELESS_KIND))
        made.turn()

        report = made.turn()

        assert (report.writes, report.events) == ([], ())
        assert report.plan.failures[0].retryable

    def test_a_label_that_is_no_text_is_named(self) -> None:
        made = workshop(secret(objects=[config_map("a", labels={"a": 1})]))

        made.turn()

        assert made.condition().message == (
            'error during apply of object "v1/ConfigMap/default/a": metadata.labels["a"] must be a string'
        )

    def test_a_template_that_takes_no_labels_is_named(self) -> None:
        made = workshop(secret(objects=[{**config_map("a"), "spec": {"template": "what?"}}]))

        made.turn()

        text = '"v1/ConfigMap/default/a"'
        assert made.condition().message == (
            f"error during apply of object {text}: error injecting labels into object {text}: "
            "spec.template: expected an object, got a string"
        )


class TestDocumentThatCannotBeDecoded:
    def test_mr_40_everything_else_is_applied(self) -> None:
        made = workshop(secret(a="a: [", b=[config_map("b")]))

        report = made.turn()

        assert made.get(CONFIG_MAPS, "b") is not None
        assert made.said()["ResourcesApplied"] == "False/DecodingFailed"
        message = made.condition().message
        place = "index 0 in 'a' in secret 'default/secret'"
        assert message.startswith(f"Could not decode all new resources: [Could not decode resource at {place}: ")
        assert message.endswith(".]")
        assert (report.plan.requeue_after, report.plan.failures) == (60, ())
        assert made.turn().requests == 0

    def test_mr_41_what_it_described_before_stays(self) -> None:
        made = workshop(secret(a=[config_map("a")], b=[config_map("b")]))
        made.turn()
        made.put(secret(a="a: [", b=[config_map("b")]))

        made.turn()

        assert made.get(CONFIG_MAPS, "a") is not None
        assert made.references() == ["ConfigMap/a", "ConfigMap/b"]

    def test_it_is_told_when_all_is_well_again(self) -> None:
        made = workshop(secret(a="a: ["))
        assert made.turn().events[0].startswith("Warning DecodingFailed: ")
        made.put(secret(a=[config_map("a")]))

        assert made.turn().events == ("Normal ApplySucceeded: All resources are applied.",)


def test_an_object_that_stands_in_several_secrets_is_applied_once_and_told_about() -> None:
    made = workshop(secret("one", objects=[config_map("a", {"k": "1"})]), secret("two", objects=[config_map("a")]))

    report = made.turn()

    assert made.live(CONFIG_MAPS, "a")["data"] == {"k": "v"}
    assert report.events == (
        'Warning RepeatedResources: only the last of several manifests is applied of "/ConfigMap/default/a"',
    )
    assert made.turn().requests == 0


def test_a_finalizer_that_somebody_else_adds_at_the_same_time_is_not_lost() -> None:
    made = workshop(secret(objects=[config_map("a")]))

    def meddle(action: Action) -> None:
        if isinstance(action, MergePatch):
            made.patch(MANAGED_RESOURCES, KEY.name, {"metadata": {"finalizers": ["example.com/other"]}})

    made.before_write = meddle

    report = made.turn()

    assert report.plan.failures[0].problem.startswith("failed to add finalizer: ")
    assert made.get(CONFIG_MAPS, "a") is None
    assert made.managed_resource()["metadata"]["finalizers"] == ["example.com/other"]


def test_a_release_that_comes_too_late_is_made_again() -> None:
    made = workshop(secret(objects=[config_map("a")]))
    made.turn()
    made.delete(MANAGED_RESOURCES, KEY.name)
    made.turn()

    def meddle(action: Action) -> None:
        if isinstance(action, MergePatch):
            made.annotate(other="x")

    made.before_write = meddle

    report = made.turn()

    assert report.plan.failures[0].problem.startswith("failed to remove finalizer: ")
    assert report.plan.failures[0].retryable
    made.before_write = lambda _action: None
    made.turn()
    assert made.source.get(MANAGED_RESOURCES, KEY) is None


def test_nothing_is_applied_when_the_status_cannot_be_written() -> None:
    made = workshop(secret(objects=[config_map("a")]))

    def meddle(action: Action) -> None:
        if isinstance(action, JsonPatch):
            made.annotate(other="x")

    made.before_write = meddle

    report = made.turn()

    assert report.plan.failures[0].problem.startswith("could not update the ManagedResource status: ")
    assert made.get(CONFIG_MAPS, "a") is None


def test_what_has_another_shape_than_any_server_stores_is_told_and_harms_nobody() -> None:
    made = workshop(secret(objects=[config_map("a")]))
    made.turn()
    made.put(managed_resource("secret", keepObjects="perhaps", equivalences="what?"))

    report = made.turn()

    assert [failure.retryable for failure in report.plan.failures] == [False]
    assert made.get(CONFIG_MAPS, "a") is not None
