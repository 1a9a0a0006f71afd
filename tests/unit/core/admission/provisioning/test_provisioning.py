"""What a replica does about certificates, turn by turn."""

from dataclasses import replace
from datetime import timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from hedgerow.admission.provisioning import provisioning_permissions
from hedgerow.admission.provisioning.material import Material, material
from hedgerow.admission.provisioning.registrations import MOST_SURVIVORS, server_names, trusted_by
from hedgerow.machinery.plan import ApiError
from tests.unit.core.admission.provisioning.replicas import (
    CONFIG,
    FOREIGN,
    REGISTRATION,
    START,
    Landscape,
    Process,
    empty_secret,
    encoded,
)

DAY = timedelta(days=1)


def single() -> Landscape:
    """A replica that has served for a while."""
    world = Landscape(processes=[Process()])
    world.settle(2)
    return world


def content(world: Landscape) -> Material:
    assert world.secret is not None
    found = material(world.secret)
    assert isinstance(found, Material), found
    return found


def bundles(world: Landscape) -> list[list[x509.Certificate]]:
    assert world.registration is not None
    return [trusted_by(webhook) for webhook in world.registration["webhooks"]]


def reasons(world: Landscape) -> list[tuple[str, str]]:
    return [(event.type, event.reason) for event in world.events]


def forbids(kind: str, step: str) -> object:
    """An API server that refuses a step on a kind."""

    def refuses(action: object) -> ApiError | None:
        resource = action.resource  # type: ignore[attr-defined]  # every step that is refused has one
        is_meant = resource.kind == kind and type(action).__name__ == step
        return ApiError(403, "Forbidden", f"{step} is forbidden") if is_meant else None

    return refuses


def test_the_first_replica_makes_everything_and_registers_what_it_serves() -> None:
    world = single()

    authority = content(world).signer.certificate
    assert bundles(world) == [[authority], [authority]]
    assert world.processes[0].served is not None
    assert reasons(world) == [("Normal", "WebhookAuthorityMade")]


def test_the_certificate_is_for_the_service_and_lives_for_ninety_days() -> None:
    served = single().processes[0].served
    assert served is not None
    certificate = x509.load_pem_x509_certificate(served)

    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert "manager.garden.svc" in names.get_values_for_type(x509.DNSName)
    assert certificate.not_valid_after_utc == START + 90 * DAY


def test_a_webhook_is_not_registered_before_it_is_served() -> None:
    world = Landscape(processes=[Process()])
    while world.processes[0].served is None:
        assert "webhooks" not in (world.registration or {})
        world.step(0)

    world.settle(1)
    assert bundles(world)


def test_a_certificate_is_renewed_after_four_fifths_of_its_life() -> None:
    world = single()
    before = world.processes[0].served

    world.now = START + 71 * DAY
    world.settle(1)
    assert world.processes[0].served == before

    world.now = START + 72 * DAY
    world.settle(1)
    assert world.processes[0].served != before
    assert reasons(world)[-1] == ("Normal", "WebhookCertificateMade")


def test_the_next_authority_signs_once_it_is_trusted_and_the_last_one_goes_a_day_later() -> None:
    world = single()
    first = content(world).signer.certificate
    while world.now < START + 292 * DAY:
        world.now += 10 * DAY
        world.settle(1)

    announced = content(world)
    assert announced.signer.certificate == first
    assert announced.following is not None
    second = announced.following.certificate
    assert bundles(world)[0] == [first, second]

    world.now += timedelta(hours=1)
    world.settle(1)
    assert content(world).signer.certificate == second
    assert set(bundles(world)[0]) == {first, second}

    world.now += DAY - timedelta(hours=1)
    world.settle(2)
    assert set(bundles(world)[0]) == {first, second}
    world.now += timedelta(hours=1)
    world.settle(2)
    assert bundles(world)[0] == [second]
    assert [reason for _, reason in reasons(world)][-3:] == [
        "WebhookAuthorityAnnounced",
        "WebhookAuthorityRotated",
        "WebhookAuthorityDropped",
    ]


def test_no_authority_signs_that_a_registration_does_not_trust() -> None:
    world = single()
    first = content(world).signer.certificate
    while world.now < START + 280 * DAY:
        world.now += 10 * DAY
        world.settle(1)
    world.refuses = forbids("MutatingWebhookConfiguration", "MergePatch")  # type: ignore[assignment]  # a function
    world.now = START + 300 * DAY
    plan = world.turn(0)
    world.now += DAY
    world.settle(2)

    assert content(world).signer.certificate == first
    assert [str(failure) for failure in plan.failures] == [
        "MutatingWebhookConfiguration manager: cannot be written: MergePatch is forbidden"
    ]


def test_the_leader_alone_puts_back_what_somebody_has_changed() -> None:
    world = Landscape(processes=[Process(), Process()])
    world.settle(2)
    assert world.registration is not None
    webhooks = world.registration["webhooks"]
    changed = [{**webhooks[0], "failurePolicy": "Ignore", "matchConditions": [{"name": "mine"}]}, *webhooks[1:]]
    world.store({**world.registration, "webhooks": changed})

    world.turn(1)
    assert world.registration["webhooks"] == changed
    world.turn(0)

    assert world.registration["webhooks"] == [{**webhooks[0], "matchConditions": [{"name": "mine"}]}, *webhooks[1:]]


def test_what_somebody_adds_to_a_webhook_stays() -> None:
    world = single()
    assert world.registration is not None
    added = [
        {**each, "matchConditions": [{"name": "mine"}], "timeoutSeconds": 10} for each in world.registration["webhooks"]
    ]
    world.store({**world.registration, "webhooks": added})
    world.settle(2)
    assert world.registration["webhooks"] == added

    before, world.secret = bundles(world), empty_secret()
    world.settle(2)
    assert bundles(world) != before
    assert [(each["matchConditions"], each["timeoutSeconds"]) for each in world.registration["webhooks"]] == [
        ([{"name": "mine"}], 10)
    ] * 2


def test_the_order_of_authorities_is_no_reason_to_write() -> None:
    world = single()
    world.register(*content(world).authorities, FOREIGN)
    world.config = replace(CONFIG, registrations=(world.registration,))  # type: ignore[arg-type]  # it is there
    world.register(FOREIGN, *content(world).authorities)
    before = world.version
    world.settle(2)

    assert world.version == before


def test_a_replica_that_does_not_lead_fills_in_what_is_empty() -> None:
    world = Landscape(processes=[Process(), Process()])
    world.turn(1)

    assert bundles(world) == [[content(world).signer.certificate]] * 2


@pytest.mark.parametrize("name", ["ca.crt", "ca.key", "tls.crt", "tls.key"])
def test_a_secret_that_somebody_has_filled_is_filled_anew_and_that_is_said(name: str) -> None:
    world = single()
    assert world.secret is not None
    data = {**world.data(), name: encoded(b"rubbish"), "note": encoded(b"mine")}
    world.store({**world.secret, "data": data})
    world.settle(2)

    assert content(world).signer is not None
    assert world.data()["note"] == encoded(b"mine")
    (event,) = world.events[1:]
    assert event.type == "Warning"
    assert name in event.note
    assert "rubbish" not in event.note


def test_a_secret_that_cannot_be_read_changes_nothing_and_is_told() -> None:
    world = single()
    before, world.refuses = world.processes[0].served, forbids("Secret", "ObjectQuestion")  # type: ignore[assignment]
    plan = world.turn(0)

    assert [str(each) for each in plan.failures] == [
        "Secret garden/certificates: cannot be read: ObjectQuestion is forbidden"
    ]
    assert world.processes[0].served == before


def test_a_registration_that_is_missing_is_told_by_name_and_keeps_nobody_from_serving() -> None:
    world = Landscape(processes=[Process()], registration=None)
    plan = world.turn(0)

    assert world.processes[0].served is not None
    (failure,) = map(str, plan.failures)
    assert failure.startswith("MutatingWebhookConfiguration manager: does not exist")


def test_who_writes_too_late_reads_again_at_once() -> None:
    world = Landscape(processes=[Process(), Process()])
    while world.keys < 2:
        world.step(0)
    world.turn(1)
    plan = world.turn(0)

    assert (plan.failures, plan.requeue_after) == ((), 0.1)
    world.turn(0)
    assert world.processes[0].served == world.processes[1].served


def test_authorities_that_the_installation_names_are_trusted_besides() -> None:
    other = content(single()).signer.certificate
    pem = encoded(other.public_bytes(Encoding.PEM))
    webhooks = [
        {**each, "clientConfig": {**each["clientConfig"], "caBundle": pem}} for each in REGISTRATION["webhooks"]
    ]
    config = replace(CONFIG, registrations=({**REGISTRATION, "webhooks": webhooks},))
    world = Landscape(config, processes=[Process()], keys=10)
    world.settle(2)

    assert bundles(world) == [[content(world).signer.certificate, other]] * 2


def test_other_names_lead_to_another_certificate() -> None:
    world = single()
    before = content(world)
    world.config = replace(CONFIG, names=(*CONFIG.names, "10.0.0.1"))
    world.settle(2)

    assert content(world).signer.certificate == before.signer.certificate
    assert content(world).pair != before.pair


@pytest.mark.parametrize(
    ("client", "names"),
    [
        ({"url": "https://manager.shoot--a--b:443/webhooks/a"}, ("manager.shoot--a--b",)),
        ({"url": "https://127.0.0.1:9449/webhooks/a"}, ("127.0.0.1",)),
        ({"url": "https://[::1]:9449/webhooks/a"}, ("::1",)),
    ],
)
def test_the_names_of_a_server_are_those_that_registrations_call(
    client: dict[str, str], names: tuple[str, ...]
) -> None:
    assert server_names([{"webhooks": [{"clientConfig": client}, {"clientConfig": client}]}]) == names


def test_the_leader_empties_a_registration_none_of_whose_webhooks_is_enabled_any_more() -> None:
    world = single()
    world.config = replace(world.config, registrations=({**REGISTRATION, "webhooks": []},))

    world.settle(1)
    assert world.registration is not None
    assert world.registration["webhooks"] == []

    world.registration = None
    world.settle(1)
    assert world.processes[0].plan is not None
    assert world.processes[0].plan.failures == ()


# Who may write what.


def test_without_the_mark_trust_is_added_and_nothing_is_corrected() -> None:
    world = Landscape(processes=[Process(), Process()])
    world.settle(2)
    own = content(world).signer.certificate
    world.register(FOREIGN, marked=False)
    assert world.distrusted() == [0, 1]

    world.turn(1)
    assert world.distrusted() == []
    world.settle(3)
    assert [set(each) for each in bundles(world)] == [{own, FOREIGN}] * 2


def test_without_the_mark_nothing_is_filled_in_and_that_is_told() -> None:
    world = single()
    assert world.registration is not None
    world.store({**world.registration, "metadata": {"name": "manager"}, "webhooks": []})
    plan = world.turn(0)

    assert world.registration["webhooks"] == []
    (failure,) = map(str, plan.failures)
    assert failure == (
        "MutatingWebhookConfiguration manager: registers nothing, and lacks the annotation "
        "hedgerow.dev/webhooks-provided-by=self with which the process fills it in: apply the installation again"
    )


def test_the_process_may_create_no_secret() -> None:
    permissions = provisioning_permissions(CONFIG.secret, [REGISTRATION])

    assert {verb for each in permissions if each.plural == "secrets" for verb in each.verbs} == {"get", "update"}


def test_a_secret_that_is_missing_is_told_and_the_last_certificate_stays() -> None:
    world = single()
    before, world.secret = world.processes[0].served, None
    plan = world.turn(0)

    assert [str(each) for each in plan.failures] == [
        "Secret garden/certificates: does not exist, so that no certificate can be kept: apply the installation again"
    ]
    assert world.processes[0].served == before


# Whether API servers accept what is served.


def test_a_replica_that_cannot_read_a_registration_serves_what_there_is_and_is_not_ready() -> None:
    world = Landscape(processes=[Process(), Process(is_blind=True)])
    world.settle(2)

    assert world.processes[1].served == world.processes[0].served
    assert world.processes[1].distrust == "MutatingWebhookConfiguration manager: cannot be read: no rights"

    world.processes[1].is_blind = False
    world.settle(1)
    assert world.processes[1].distrust is None


def test_what_was_trusted_stays_in_use_while_a_registration_cannot_be_read() -> None:
    world = Landscape(processes=[Process(), Process()])
    world.settle(2)
    before, world.processes[1].is_blind = world.processes[1].served, True
    world.secret = empty_secret()
    world.turn(1)
    assert world.data() == {}
    world.settle(2)

    assert world.processes[0].served != before
    assert (world.processes[1].served, world.processes[1].distrust) == (before, None)
    assert world.distrusted() == []


def test_a_replica_is_not_ready_while_a_registration_does_not_trust_what_it_serves() -> None:
    world = Landscape(processes=[Process()])
    world.register(FOREIGN)
    world.refuses = forbids("MutatingWebhookConfiguration", "MergePatch")  # type: ignore[assignment]  # a function
    world.settle(2)
    distrust = "MutatingWebhookConfiguration manager does not trust the serving certificate"
    assert world.processes[0].distrust == distrust

    world.refuses = lambda _action: None
    world.settle(1)
    assert world.processes[0].distrust is None


@pytest.mark.parametrize("passed", [timedelta(0), 72 * DAY - timedelta(hours=2)], ids=["authority", "certificate"])
def test_what_a_clock_that_is_ahead_has_made_is_made_anew(passed: timedelta) -> None:
    world = Landscape(processes=[Process(), Process(clock=timedelta(hours=3))])
    if passed:
        world.settle(2)
    world.now += passed
    world.turn(1)
    assert x509.load_pem_x509_certificate(world.processes[1].served or b"").not_valid_before_utc > world.now

    world.turn(0)
    assert world.distrusted() == []
    assert "a clock is wrong" in world.events[-1].note
    world.settle(2)
    assert world.processes[1].served == world.processes[0].served
    assert len(world.events) == (3 if passed else 2)


def test_a_clock_that_is_an_hour_ahead_harms_nobody() -> None:
    world = Landscape(processes=[Process(), Process(clock=timedelta(hours=1))])
    world.turn(1)
    world.settle(2)

    assert world.distrusted() == []
    assert len(world.events) == 1


# Trust that ends.


def test_an_authority_that_was_lost_is_trusted_for_a_day() -> None:
    world = single()
    (lost,), _ = bundles(world)
    world.secret = empty_secret()
    world.settle(2)
    assert lost in bundles(world)[0]

    world.now += DAY
    world.settle(2)
    assert bundles(world) == [[content(world).signer.certificate]] * 2


def test_whoever_spoils_the_secret_again_and_again_does_not_fill_it() -> None:
    world = single()
    for _ in range(9):
        world.now += timedelta(minutes=3)
        world.secret = empty_secret()
        world.settle(2)

    assert len(content(world).authorities) == len(bundles(world)[0]) == 1 + MOST_SURVIVORS


def test_authorities_that_somebody_removes_from_the_secret_are_trusted_no_more() -> None:
    world = single()
    world.secret = empty_secret()
    world.settle(2)
    signer = content(world).signer.certificate
    assert world.secret is not None
    only = {**world.data(), "ca.crt": encoded(signer.public_bytes(Encoding.PEM))}
    world.store({**world.secret, "data": only})
    world.settle(1)

    assert bundles(world) == [[signer]] * 2
    assert world.distrusted() == []


def test_operators_learn_how_many_webhooks_are_registered() -> None:
    world = Landscape(processes=[Process()])
    while world.processes[0].served is None:
        world.step(0)
    assert world.processes[0].registered == {}

    world.settle(2)
    assert world.processes[0].registered == {"MutatingWebhookConfiguration": 2}

    world.registration = None
    world.settle(1)
    assert world.processes[0].registered == {"MutatingWebhookConfiguration": 0}
