"""What a dry run tells about a settled object: whether another write would store something else."""

from typing import Any

from hedgerow.api.managed_objects import transform_of
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.plan import Update, WriteResult
from hedgerow.resource_manager.managed_resources.unchanged import Verdict, verdict
from hedgerow.resource_manager.managed_resources.write_context import could_match
from hedgerow_adapters.protocol import requests
from tests.contract.objects import CONFIG_MAPS, config_map, key
from tests.contract.targets import Send
from tests.contract.webhook_bench import MUTATING, Bench, Hook, denying, setting
from tests.contract.workloads import DEPLOYMENTS, workload
from tests.in_memory import write_result_of


def tried(send: Send, live: Manifest) -> WriteResult:
    """The result of a dry run that writes an object as it is."""
    action = Update(CONFIG_MAPS if live["kind"] == "ConfigMap" else DEPLOYMENTS, live, "test", dry_run=True)
    return write_result_of(action, send(requests.for_action(action)))


def stored(send: Send, namespace: str, name: str) -> Any:
    return send(requests.get(CONFIG_MAPS, key(namespace, name))).body


def test_a_webhook_that_is_registered_later_shows_in_a_dry_run_and_nothing_is_stored(
    send: Send, namespace: str, webhooks: Bench
) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))
    live = stored(send, namespace, "a")
    assert verdict(tried(send, live), live) is Verdict.CHANGES_NOTHING

    webhooks.mutating(Hook("late", setting("data", to={"k": "v"})))

    outcome = tried(send, live)
    assert verdict(outcome, live) is Verdict.CHANGES
    assert outcome.stored is not None
    assert outcome.stored["data"] == {"k": "v"}
    assert stored(send, namespace, "a") == live

    written = send(requests.update(CONFIG_MAPS, key(namespace, "a"), live)).body
    assert verdict(tried(send, written), written) is Verdict.CHANGES_NOTHING


def test_a_deployment_that_is_written_as_it_is_shows_no_difference_in_a_dry_run(send: Send, namespace: str) -> None:
    live = send(requests.create(DEPLOYMENTS, workload(), namespace)).body

    assert verdict(tried(send, live), live) is Verdict.CHANGES_NOTHING


def test_what_would_be_denied_changes_nothing_and_what_was_overtaken_is_not_known(
    send: Send, namespace: str, webhooks: Bench
) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))
    old = stored(send, namespace, "a")
    live = send(requests.update(CONFIG_MAPS, key(namespace, "a"), {**old, "data": {"k": "v"}})).body
    assert verdict(tried(send, old), old) is Verdict.NOT_KNOWN

    webhooks.validating(Hook("guard", denying("not today")))

    assert verdict(tried(send, live), live) is Verdict.CHANGES_NOTHING


def test_what_is_kept_of_a_registration_tells_whether_it_could_match_and_which_version_it_is(
    send: Send, webhooks: Bench
) -> None:
    webhooks.mutating(Hook("late"))
    (whole,) = [
        each
        for each in send(requests.list_page(MUTATING)).body["items"]
        if any(webhook["name"] == "late.hedgerow.dev" for webhook in each["webhooks"])
    ]

    kept = transform_of(MUTATING)(whole)

    assert could_match(kept, CONFIG_MAPS, None)
    assert not could_match(kept, CONFIG_MAPS, {})
    assert not could_match(kept, DEPLOYMENTS, None)
    assert kept["metadata"]["generation"] == 1


def test_a_server_tells_its_version(send: Send) -> None:
    answer = send(requests.version())

    assert answer.status == 200
    assert answer.body["gitVersion"].startswith("v1.")
