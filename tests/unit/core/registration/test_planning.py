"""Which installations a seed needs, what they contain, and what is done to get there (§4.3, §4.5, §4.6)."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.api.registrations import POD_SECURITY_ENFORCE
from hedgerow.machinery.objects import Manifest, annotations_of, key_of
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.plan import Create, Delete, MergePatch
from hedgerow.registration.garden import transform_installation
from hedgerow.registration.planning import InstallationPlan, PlanningConfig, SeedInputs, plan_installations
from tests.unit.core.registration.garden import (
    ALL,
    GOING,
    P1,
    P2,
    P3,
    P4,
    bucket,
    domain_secret,
    entry,
    resource,
    shoot,
    versioned,
)
from tests.unit.core.registration.objects import BEFORE, condition, deployment, installation, registration, seed
from tests.unit.orders import ORDERS

SEED = versioned(seed(spec={}), labels={"foo": "bar"})
CONFIG = PlanningConfig()
REQUIRED = (condition("Required", "True"),)
D = versioned(deployment("d"))


def installed(registration: str, *, on: str = "s", name: str = "", required: bool = False, **metadata: Any) -> Manifest:
    name = name or registration.replace("p", "i")
    conditions = REQUIRED if required else ()
    return versioned(
        installation(name, registration=registration, seed=on, deployment=None, conditions=conditions, **metadata)
    )


INSTALLED = (
    installed("p1", on="other"),
    installed("p2"),
    installed("p3"),
    installed("p4"),
    installed("p7", required=True),
)


def plan(
    *registrations: Manifest,
    installations: Sequence[Manifest] = (),
    on: Manifest = SEED,
    config: PlanningConfig = CONFIG,
    **inputs: Any,
) -> InstallationPlan:
    stored = tuple(each if "resourceVersion" in each["metadata"] else versioned(each) for each in registrations)
    return plan_installations(SeedInputs(on, stored, inputs.pop("deployments", (D,)), installations, **inputs), config)


def needing(*ids: str, shoots: int = 1) -> dict[str, Any]:
    """A shoot that needs nothing but these kinds and types, and others that need nothing."""
    workers: list[Manifest] = []
    spec = dict[str, Any](extensions=[], provider={"workers": workers})
    for kind, type_ in (each.split("/") for each in ids):
        match kind:
            case "Extension":
                spec["extensions"].append({"type": type_})
            case "Network":
                workers.append({})
                spec["networking"] = {"type": type_}
            case "ContainerRuntime":
                workers.append({"cri": {"containerRuntimes": [{"type": type_}]}})
    return {
        "shoots": [
            shoot("x", **spec),
            *(shoot(f"idle-{number}", extensions=[{"type": "g1", "disabled": True}]) for number in range(1, shoots)),
        ]
    }


def verbs(planned: InstallationPlan) -> list[str]:
    """What is done, and to the installation of which registration."""
    return [
        f"create {action.manifest['spec']['registrationRef']['name']}"
        if isinstance(action, Create)
        else f"{'patch' if isinstance(action, MergePatch) else 'delete'} {action.key.name}"
        for action in planned.actions
    ]


def settled(planned: InstallationPlan, installations: Sequence[Manifest] = ()) -> list[Manifest]:
    """The installations once everything is done."""
    stored = {key_of(each): each for each in installations}
    for action in planned.actions:
        match action:
            case Create(manifest=manifest):
                stored[action.key] = versioned(manifest)
            case MergePatch(patch=patch):
                stored[action.key] = apply_merge_patch(stored[action.key], patch)
            case _:
                del stored[action.key]
    return [*stored.values()]


X_PROVIDER = versioned(seed(spec={"provider": {"type": "x"}}), labels={"foo": "bar"})


def test_primary_and_secondary_controllers_are_wanted_and_what_policies_ask_for() -> None:  # A1
    world = needing("Network/n2", shoots=3)
    planned = plan(*ALL, installations=INSTALLED, on=X_PROVIDER, **world)

    assert [*planned.wanted] == ["p1", "p2", "p3", "p4", "p7", "p8"]


@pytest.mark.parametrize(
    ("on", "shoots", "wanted"),
    [
        (SEED, 0, ["p4", "p7"]),  # A2
        (versioned(SEED, **GOING), 0, ["p7"]),  # A3
        (versioned(SEED, **GOING), 1, ["p7", "p8"]),  # A4
    ],
)
def test_policies_depend_on_shoots_and_on_the_life_of_the_seed(on: Manifest, shoots: int, wanted: list[str]) -> None:
    idle = [shoot("x", extensions=[{"type": "g1", "disabled": True}])] * shoots
    planned = plan(*ALL, installations=INSTALLED, on=on, shoots=idle)

    assert [*planned.wanted] == wanted


def test_what_nothing_offers_keeps_everything_from_being_deleted() -> None:  # A5
    planned = plan(P2, P4, installations=[installed("p2")], **needing("Extension/bar"))

    assert verbs(planned) == ["create p4"]
    assert [*map(str, planned.failures)] == [
        (
            'Seed s: need to install an extension controller for "Extension/bar" but no appropriate '
            "ControllerRegistration found: it is wanted by shoot garden-a/x"
        )
    ]


def test_what_only_the_seed_needs_is_a_warning() -> None:
    planned = plan(P2, P4, installations=[installed("p2")], on=X_PROVIDER)

    assert verbs(planned) == ["create p4", "delete i2"]
    assert not planned.failures
    assert [(event.reason, event.note) for event in planned.events] == [
        (
            "ExtensionNotRegistered",
            "the Seed needs, but no ControllerRegistration offers ControlPlane/x, Infrastructure/x, Worker/x",
        )
    ]


def test_seeds_may_have_to_need_nothing() -> None:
    planned = plan(P3, on=X_PROVIDER, config=PlanningConfig(seed_provider_extensions=False))

    assert planned == InstallationPlan()


def test_a_policy_ends_with_its_registration() -> None:  # A6
    assert verbs(plan(versioned(P4, **GOING), installations=[installed("p4")])) == ["delete i4"]


@pytest.mark.parametrize("installations", [[installed("p3")], []])
def test_a_registration_in_deletion_is_neither_installed_nor_changed(installations: list[Manifest]) -> None:  # A7, A8
    planned = plan(versioned(P3, **GOING), installations=installations, on=X_PROVIDER)

    assert [*planned.wanted] == ["p3"]
    assert verbs(planned) == []


def test_an_installation_refers_to_what_it_is_made_of() -> None:  # A9
    planned = plan(P2, **needing("Network/n2"))

    (create,) = planned.actions
    assert isinstance(create, Create)
    assert create.reason == "type-is-wanted"
    metadata, spec = create.manifest["metadata"], create.manifest["spec"]
    assert metadata["generateName"] == "p2-"
    assert metadata["name"].startswith("p2-")
    assert [*metadata["labels"]] == ["seed-spec-hash", "registration-spec-hash", "deployment-hash"]
    assert spec["deploymentRef"] == {
        "apiVersion": "core.gardener.cloud/v1beta1",
        "kind": "ControllerDeployment",
        "name": "d",
        "resourceVersion": "1",
    }
    assert {name: each["name"] for name, each in spec.items()} == {
        "seedRef": "s",
        "registrationRef": "p2",
        "deploymentRef": "d",
    }


def test_without_a_deployment_there_is_no_reference_to_one() -> None:  # A10
    (create,) = plan(P3, on=X_PROVIDER).actions

    assert isinstance(create, Create)
    assert "deploymentRef" not in create.manifest["spec"]
    assert [*create.manifest["metadata"]["labels"]] == ["seed-spec-hash", "registration-spec-hash"]


@pytest.mark.parametrize(
    ("change", "reason", "path"),
    [
        ({"deployments": [versioned(deployment("d"), "2")]}, "deployment-changed", ("spec", "deploymentRef")),
        ({"on": versioned(SEED, resourceVersion="2")}, "seed-changed", ("spec", "seedRef")),
    ],
)
def test_an_installation_follows_the_versions_of_what_it_refers_to(  # A11
    change: dict[str, Any], reason: str, path: tuple[str, ...]
) -> None:
    world = needing("Network/n2")
    before = settled(plan(P2, **world))

    planned = plan(P2, installations=before, **world, **change)

    (patch,) = planned.actions
    assert isinstance(patch, MergePatch)
    assert (patch.reason, patch.resource_version) == (reason, "1")
    assert patch.patch == {path[0]: {path[1]: {"resourceVersion": "2"}}}


def test_a_missing_deployment_keeps_only_its_registration_from_being_installed() -> None:  # A12
    planned = plan(P2, P4, installations=[installed("p3")], deployments=(), **needing("Network/n2"))
    with_p3 = plan(P2, P3, P4, installations=[installed("p3")], deployments=(), **needing("Network/n2"))

    assert verbs(planned) == []
    assert verbs(with_p3) == ["create p4"]
    assert [*map(str, with_p3.failures)] == [
        (
            "ControllerRegistration p2: cannot deploy ControllerInstallation because the referenced "
            'ControllerDeployment "d" does not exist'
        )
    ]


def test_an_installation_in_deletion_is_awaited() -> None:  # A13
    installations = [installed("p2", **GOING), installed("p3")]
    planned = plan(P2, P3, P4, installations=installations, **needing("Network/n2"))

    assert verbs(planned) == ["create p4"]
    assert [*map(str, planned.failures)] == [
        (
            'ControllerRegistration p2: cannot deploy new ControllerInstallation for "p2" because the deletion of '
            "the old ControllerInstallation is still pending"
        )
    ]
    assert planned.failures[0].retryable


def test_what_is_not_wanted_goes() -> None:  # A14
    (delete,) = plan(P2, installations=[installed("p2")]).actions

    assert isinstance(delete, Delete)
    assert (delete.reason, delete.uid, delete.resource_version) == ("not-wanted", "uid-i2", "1")
    assert verbs(plan(P2, installations=[installed("p2", **GOING)])) == []


@pytest.mark.parametrize(("status", "verb"), [("True", "patch"), ("False", "delete"), ("Unknown", "delete")])
def test_what_extension_objects_need_stays(status: str, verb: str) -> None:  # A15, A16
    required = versioned(
        installation("i2", registration="p2", deployment=None, conditions=(condition("Required", status),))
    )

    assert verbs(plan(P2, installations=[required])) == [f"{verb} i2"]


def test_a_seed_that_is_no_longer_selected_loses_even_what_is_required() -> None:  # A17
    selecting = registration("p", policy="Always", seedSelector={"matchLabels": {"env": "prod"}})
    required = [installed("p", name="i", required=True)]
    prod, dev = (versioned(seed(spec={}), labels={"env": env}) for env in ("prod", "dev"))

    assert verbs(plan(selecting, installations=required, on=prod)) == ["patch i"]
    assert verbs(plan(selecting, installations=required, on=dev)) == ["delete i"]


def test_an_installation_of_an_unknown_registration_stops_everything() -> None:  # A18
    planned = plan(P2, P4, installations=[installed("unknown", name="i"), installed("p2")])

    assert verbs(planned) == []
    assert [*map(str, planned.failures)] == [
        'ControllerInstallation i: spec.registrationRef.name: ControllerRegistration "unknown" does not exist'
    ]


def test_installations_of_other_seeds_do_not_matter() -> None:  # A19
    assert plan(P2, installations=[installed("unknown", on="other")]) == InstallationPlan()


def test_the_pod_security_level_is_passed_on() -> None:  # A20
    strict = versioned(P4, "2", annotations={POD_SECURITY_ENFORCE: "baseline", "example.com/own": "x"})
    before = settled(plan(P4))
    after = settled(plan(strict, installations=before), before)

    assert annotations_of(after[0]) == {POD_SECURITY_ENFORCE: "baseline"}
    assert not annotations_of(settled(plan(versioned(P4, "3"), installations=after), after)[0])


def inline(foo: str, version: str) -> Manifest:
    config = {"chart": "H4sIAAAA", "values": {"foo": foo}}
    spec = {
        "resources": [resource(kind, "aws") for kind in ("ControlPlane", "Infrastructure", "Worker")],
        "deployment": {"type": "helm", "providerConfig": config},
    }
    stored = versioned({**registration("provider-aws"), "spec": spec}, version)
    return {**stored, "metadata": {**stored["metadata"], "annotations": {POD_SECURITY_ENFORCE: "baseline"}}}


AWS = versioned(
    seed(
        "aws-eu1",
        spec={
            "dns": {},
            "networks": {"pods": "100.96.0.0/11", "services": "100.64.0.0/13", "ipFamilies": ["IPv4"]},
            "provider": {"type": "aws", "region": "eu-west-1", "zones": ["a"]},
        },
    ),
    "17",
)


def test_other_values_of_an_inline_chart_are_another_installation() -> None:  # A21
    before = settled(plan(inline("bar", "42"), on=AWS))
    (patch,) = plan(inline("baz", "43"), installations=before, on=AWS).actions

    assert isinstance(patch, MergePatch)
    assert patch.reason == "registration-changed"
    assert patch.patch == {
        "metadata": {"labels": {"registration-spec-hash": "efd98d0da18a21ee"}},
        "spec": {"registrationRef": {"resourceVersion": "43"}},
    }


def test_what_is_current_stays_as_it_is() -> None:  # A22
    world = needing("Network/n2")
    before = settled(plan(P1, P2, P4, **world))

    assert verbs(plan(P1, P2, P4, installations=before, **world)) == []
    assert verbs(plan(P1, P2, P4, installations=[*map(transform_installation, before)], **world)) == []


def test_labels_and_annotations_of_others_stay_and_a_hash_goes_with_its_deployment() -> None:
    labels = {"own": "x", "deployment-hash": "y"}
    before = [installed("p4", labels=labels, annotations={"own": "x"})]
    (after,) = settled(plan(P4, installations=before), before)
    own = {
        **after,
        "metadata": {**after["metadata"], "labels": {**after["metadata"]["labels"], "deployment-hash": "y"}},
    }

    assert after["metadata"]["annotations"] == {"own": "x"}
    assert [*after["metadata"]["labels"]] == ["own", "seed-spec-hash", "registration-spec-hash"]
    assert [action.reason for action in plan(P4, installations=[own]).actions] == ["content-changed"]


def test_backup_buckets_and_their_entries_need_extensions() -> None:  # A23, A24
    buckets = [bucket("one", "t2"), bucket("two", "t3")]
    entries = [entry("a", "one"), entry("b", "one"), entry("c", "of-another-seed")]
    planned = plan(backup_buckets=buckets, backup_entries=entries)

    assert planned.demands == {
        "BackupBucket/t2": ["BackupBucket one"],
        "BackupBucket/t3": ["BackupBucket two"],
        "BackupEntry/t2": ["BackupEntry garden-a/a", "BackupEntry garden-a/b"],
    }
    assert [(event.reason, event.note) for event in planned.events] == [
        ("BackupBucketMissing", "the seed has no BackupBucket of BackupEntry garden-a/c")
    ]


FOO = resource("Extension", "foo")


def test_a_secondary_controller_is_installed_where_its_selector_matches() -> None:  # A35
    secondary = registration("b", {**FOO, "primary": False}, seedSelector={"matchLabels": {"foo": "bar"}})
    planned = plan(registration("a", FOO), secondary, **needing("Extension/foo"))

    assert verbs(planned) == ["create a", "create b"]
    assert [each.sentence for each in planned.wanted["b"]] == ["Extension/foo is wanted by shoot garden-a/x"]


@pytest.mark.parametrize(
    ("registrations", "warning"),
    [
        (  # A36
            [registration("a", {**FOO, "primary": False})],
            ("NoPrimaryController", "no ControllerRegistration controls primarily Extension/foo"),
        ),
        (
            [registration("a", FOO), registration("b", FOO)],
            ("SeveralPrimaryControllers", "several ControllerRegistrations control primarily Extension/foo"),
        ),
    ],
)
def test_a_type_should_have_one_primary_controller(registrations: list[Manifest], warning: tuple[str, str]) -> None:
    planned = plan(*registrations, **needing("Extension/foo"))

    assert [*planned.wanted] == [each["metadata"]["name"] for each in registrations]
    assert [(event.reason, event.note) for event in planned.events] == [warning]


def test_a_whole_installation() -> None:  # A37
    (create,) = plan(inline("bar", "42"), on=AWS).actions

    assert isinstance(create, Create)
    name = create.manifest["metadata"]["name"]
    reference = {"apiVersion": "core.gardener.cloud/v1beta1"}
    assert create.manifest == {
        **reference,
        "kind": "ControllerInstallation",
        "metadata": {
            "name": name,
            "generateName": "provider-aws-",
            "labels": {"seed-spec-hash": "0ebdae364ad5d187", "registration-spec-hash": "370b615aa4bf18c5"},
            "annotations": {POD_SECURITY_ENFORCE: "baseline"},
        },
        "spec": {
            "registrationRef": {
                **reference,
                "kind": "ControllerRegistration",
                "name": "provider-aws",
                "resourceVersion": "42",
            },
            "seedRef": {**reference, "kind": "Seed", "name": "aws-eu1", "resourceVersion": "17"},
        },
    }


def test_names_follow_from_registration_and_seed_unless_they_are_taken() -> None:
    (one,), (again,) = plan(P4).actions, plan(P4).actions
    taken = [installed("other", on="other", name=one.key.name)]
    (other,) = plan(P4, installations=taken).actions
    (elsewhere,) = plan(P4, on=AWS, config=PlanningConfig(seed_provider_extensions=False)).actions

    assert one.key == again.key
    assert len({one.key, other.key, elsewhere.key}) == 3


def test_the_namespace_of_an_installation_has_a_valid_name() -> None:
    (create,) = plan(registration("a" * 60, policy="Always")).actions

    assert isinstance(create, Create)
    assert len(f"extension-{create.key.name}") == 63
    assert create.manifest["metadata"]["generateName"] == f"{'a' * 47}-"


def test_of_several_installations_the_oldest_counts_and_the_others_stay_until_nothing_wants_them() -> None:
    several = [
        installed("p4", name="c", creationTimestamp=BEFORE),
        installed("p4", name="b", creationTimestamp=BEFORE),
        installed("p4", name="a", creationTimestamp="2025-07-01T00:00:00Z"),
        installed("p4", name="d", creationTimestamp="2025-01-01T00:00:00Z", **GOING),
    ]
    planned = plan(P4, installations=several)

    assert verbs(planned) == ["patch b"]
    assert [event.note for event in planned.events] == ["p4 is installed as a and 2 more"]
    assert verbs(plan(versioned(P4, **GOING), installations=several)) == ["delete a", "delete b", "delete c"]


@pytest.mark.parametrize(("secrets", "verb"), [([], []), ([domain_secret("a", "internal-domain")], ["create p4"])])
def test_nothing_is_decided_without_the_secrets_of_a_seed_if_they_are_required(
    secrets: list[Manifest], verb: list[str]
) -> None:
    planned = plan(P4, domain_secrets=secrets, config=PlanningConfig(require_garden_secrets=True))

    assert verbs(planned) == verb
    assert [each.problem.text for each in planned.failures] == (
        [] if secrets else ['garden secrets for seed "s" have not been synchronized yet']
    )


def test_domain_secrets_without_annotations_are_told_of() -> None:
    planned = plan(domain_secrets=[domain_secret("a", "internal-domain")])

    assert [event.note for event in planned.events] == ["provider or domain is not annotated at Secret seed-s/a"]


BAD: Mapping[str, tuple[dict[str, Any], str]] = {
    "shoot": (
        {"shoots": [shoot("bad", extensions="all")]},
        "Shoot garden-a/bad: spec.extensions: expected a list, got a string",
    ),
    "bucket": (
        {"backup_buckets": [{**bucket("bad", "x"), "spec": {"provider": 1}}]},
        "BackupBucket bad: spec.provider: expected an object, got an integer",
    ),
    "entry": (
        {"backup_entries": [{**entry("bad", "x"), "spec": {"bucketName": 1}}]},
        "BackupEntry garden-a/bad: spec.bucketName: expected a string, got an integer",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_stops_nothing_but_deletions(name: str) -> None:
    inputs, problem = BAD[name]
    planned = plan(P2, P4, installations=[installed("p2")], **inputs)

    assert verbs(planned) == ["create p4"]
    assert [*map(str, planned.failures)] == [problem]
    assert not planned.failures[0].retryable


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"resources": [{"kind": 1}]}, "spec.resources[0].kind: expected a string, got an integer"),
        (
            {"deployment": {"policy": "Always", "seedSelector": {"matchLabels": 1}}},
            "spec.deployment.seedSelector.matchLabels: must be an object of label keys and values, is an integer",
        ),
    ],
)
def test_neither_does_a_bad_registration(spec: Manifest, problem: str) -> None:
    bad = {**registration("bad"), "spec": spec}
    planned = plan(P2, P4, bad, installations=[installed("p2"), installed("bad", name="i")])

    assert verbs(planned) == ["create p4"]
    assert [*map(str, planned.failures)] == [f"ControllerRegistration bad: {problem}"]


def test_what_nobody_has_validated_is_checked_before_it_is_installed() -> None:
    invalid = registration("invalid", FOO, {**FOO, "primary": False}, seedSelector={})
    planned = plan(P2, P4, invalid, installations=[installed("p2")], **needing("Extension/foo"))

    assert [*planned.wanted] == ["invalid", "p4"]
    assert verbs(planned) == ["create p4"]
    assert [*map(str, planned.failures)] == [
        'ControllerRegistration invalid: spec.resources[1]: Duplicate value: "Extension/foo"',
        (
            "ControllerRegistration invalid: spec.deployment.seedSelector: Forbidden: "
            "specifying a seed selector is not allowed when controlling resources primarily"
        ),
    ]
    assert not planned.failures[0].retryable


def test_an_installation_that_cannot_be_read_stops_only_deletions() -> None:
    bad = {**installed("p4", name="bad"), "spec": {"seedRef": {"name": "s"}, "registrationRef": "p4"}}
    planned = plan(P2, P4, installations=[installed("p2"), bad])

    assert verbs(planned) == ["create p4"]
    assert len(planned.failures) == 1


def test_a_seed_that_cannot_be_read_stops_everything() -> None:
    planned = plan(P4, on=versioned(seed(spec={"backup": "yes"})))

    assert [*map(str, planned.failures)] == ["Seed s: spec.backup: expected an object, got a string"]
    assert not planned.actions


def test_types_that_the_same_objects_want_are_told_together() -> None:
    planned = plan(P3, on=X_PROVIDER)

    assert [each.sentence for each in planned.wanted["p3"]] == [
        "ControlPlane/x, Infrastructure/x, Worker/x are wanted by the seed itself"
    ]


def test_whoever_wants_an_installation_is_told() -> None:
    registrations = [registration("a", FOO, policy="AlwaysExceptNoShoots")]
    shoots = [shoot(name, extensions=[{"type": "foo"}]) for name in ("z", "y", "x")]
    planned = plan(*registrations, installations=[installed("a", name="i", required=True)], shoots=shoots)

    assert [each.sentence for each in planned.wanted["a"]] == [
        "Extension/foo is wanted by shoot garden-a/x and 2 more",
        "its policy is AlwaysExceptNoShoots",
        "extension objects of it exist in the seed",
    ]


@pytest.mark.parametrize(
    ("registrations", "inputs", "reason"),
    [
        ([P4], {}, "policy-Always"),
        ([registration("p8", policy="AlwaysExceptNoShoots")], {"shoots": [shoot()]}, "policy-AlwaysExceptNoShoots"),
        ([P1], needing("Extension/g1"), "type-is-wanted"),
    ],
)
def test_a_creation_says_why(registrations: list[Manifest], inputs: dict[str, Any], reason: str) -> None:
    assert [action.reason for action in plan(*registrations, **inputs).actions] == [reason]


@st.composite
def gardens(draw: st.DrawFn) -> dict[str, Any]:
    """Gardens with what the fixture has, and things that are wrong."""

    def some(*values: Manifest) -> list[Manifest]:
        return draw(st.lists(st.sampled_from(values), unique_by=lambda each: key_of(each).name))

    odd = [
        registration("going", FOO, policy="Always"),
        registration("odd", FOO, policy="Always", seedSelector={"matchLabels": 1}),
    ]
    going = versioned(odd[0], **GOING)
    return {
        "registrations": [*map(versioned, some(*ALL, odd[1])), *([going] if draw(st.booleans()) else [])],
        "installations": some(*INSTALLED, installed("p2", name="second"), installed("p4", name="going", **GOING)),
        "deployments": some(D),
        "shoots": some(
            shoot("a", **needing("Network/n2", "Extension/foo")["shoots"][0]["spec"]),
            shoot("b", extensions=[{"type": "g1"}]),
            shoot("c", extensions=[{"type": "unknown"}]),
            shoot("d", extensions=1),
        ),
        "backup_buckets": some(bucket("one", "b1"), bucket("two", "t2")),
        "backup_entries": some(entry("e", "one")),
    }


@given(garden=gardens(), shuffle=ORDERS)
def test_the_order_of_objects_makes_no_difference(garden: dict[str, Any], shuffle: Random) -> None:
    shuffled = {name: shuffle.sample(objects, len(objects)) for name, objects in garden.items()}
    one, other = (plan_installations(SeedInputs(X_PROVIDER, **each), PlanningConfig()) for each in (garden, shuffled))

    assert (one.actions, one.failures, one.events) == (other.actions, other.failures, other.events)


@given(garden=gardens())
def test_nothing_is_deleted_while_something_is_not_known(garden: dict[str, Any]) -> None:
    planned = plan_installations(SeedInputs(SEED, **garden), PlanningConfig())
    offered = {
        f"{each['kind']}/{each['type']}" for one in garden["registrations"] for each in one["spec"].get("resources", ())
    }

    deletes = any(isinstance(action, Delete) for action in planned.actions)
    assert not (deletes and planned.failures)
    assert not (deletes and planned.demands.keys() - offered)


@given(garden=gardens())
def test_nothing_is_left_to_do_once_everything_was_done(garden: dict[str, Any]) -> None:
    planned = plan_installations(SeedInputs(SEED, **garden), PlanningConfig())
    garden["installations"] = settled(planned, garden["installations"])

    assert plan_installations(SeedInputs(SEED, **garden), PlanningConfig()).actions == ()
