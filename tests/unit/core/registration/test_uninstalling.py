"""How a ControllerInstallation leaves the seed (C25 to C30, C35)."""

import pytest

from hedgerow.api.kubernetes import NAMESPACES, SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS, SEEDS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.plan import Plan
from tests.unit.core.controllers.definitions import lose_definitions
from tests.unit.core.registration.landscape import (
    FINALIZER,
    HELM,
    INSTALLATION,
    NAMESPACE,
    SEED,
    Landscape,
    installation,
    of,
    registration,
    seed,
)
from tests.unit.core.registration.objects import KINDS

MANAGED = f'ManagedResource "{INSTALLATION}"'
PENDING = ("False", "DeletionPending")
FAILED = ("False", "DeletionFailed")
DONE = ("False", "DeletionSuccessful")
HELD = {"metadata": {"finalizers": ["resources.gardener.cloud/gardener-resource-manager"]}}
OTHERS = "example.com/own"
VALID = ("True", "RegistrationValid")


def deployed(*, with_finalizers: tuple[str, ...] = ()) -> Landscape:
    """An installation that is in the seed, whose resource manager and Namespace take their time, and is to go."""
    landscape = Landscape(seed(), registration(), installation(finalizers=[*with_finalizers]))
    landscape.turn()
    landscape.patch(Cluster.TARGET, landscape.managed_resource, HELD)
    landscape.patch(Cluster.TARGET, of(NAMESPACES, NAMESPACE), {"metadata": {"finalizers": [OTHERS]}})
    landscape.ask_for_deletion()
    return landscape


def error_of(plan: Plan) -> str:
    (failure,) = plan.failures
    assert failure.retryable
    return failure.problem.text


def test_the_objects_go_first() -> None:
    landscape = deployed()
    secret = landscape.secret["metadata"]["name"]

    assert landscape.turn() == Plan(requeue_after=30)

    assert landscape.writes[:2] == [f"Delete Secret {secret}", f"Delete ManagedResource {INSTALLATION}"]
    assert landscape.conditions == {"Valid": VALID, "Installed": PENDING}
    assert landscape.message("Installed") == f"Deletion of {MANAGED} is still pending."
    assert landscape.found(NAMESPACES, NAMESPACE)["metadata"].get("deletionTimestamp") is None


def test_waiting_writes_nothing() -> None:
    landscape = deployed()
    landscape.turn()

    assert landscape.turn() == Plan(requeue_after=30)
    assert landscape.writes == []


def test_the_namespace_goes_next() -> None:
    landscape = deployed()
    landscape.remove(MANAGED_RESOURCES, INSTALLATION, "garden")

    assert landscape.turn() == Plan(requeue_after=30)

    assert landscape.writes[0] == f"Delete Namespace {NAMESPACE}"
    assert landscape.conditions["Installed"] == PENDING
    assert landscape.message("Installed") == f'Deletion of Namespace "{NAMESPACE}" is still pending.'
    assert landscape.turn() == Plan(requeue_after=30)
    assert landscape.writes == []


def test_an_installation_of_which_nothing_is_left_goes_at_last() -> None:
    landscape = deployed(with_finalizers=(OTHERS,))
    landscape.remove(MANAGED_RESOURCES, INSTALLATION, "garden")
    landscape.remove(NAMESPACES, NAMESPACE)

    assert landscape.turn() == Plan()

    assert landscape.installation["metadata"]["finalizers"] == [OTHERS]
    assert landscape.conditions == {"Valid": VALID, "Installed": DONE}
    assert landscape.message("Installed") == "Deletion of old resources succeeded."
    assert landscape.turn() == Plan()
    assert landscape.writes == []


def test_an_installation_that_only_we_hold_is_gone_then() -> None:
    landscape = deployed()
    landscape.remove(MANAGED_RESOURCES, INSTALLATION, "garden")
    landscape.remove(NAMESPACES, NAMESPACE)

    landscape.turn()

    assert landscape.installation is None


def test_a_secret_without_checksum_goes_too() -> None:
    landscape = deployed()
    landscape.remove(MANAGED_RESOURCES, INSTALLATION, "garden")
    landscape.stage.put(Cluster.TARGET, of(SECRETS, INSTALLATION, "garden"))

    landscape.turn()

    assert landscape.writes[0] == f"Delete Secret {INSTALLATION}"


def test_an_installation_that_we_do_not_hold_is_none_of_our_business() -> None:
    landscape = Landscape(seed(), registration(), installation(finalizers=[OTHERS]))
    landscape.ask_for_deletion()

    assert landscape.turn() == Plan()
    assert landscape.writes == []


@pytest.mark.parametrize("deployment", [None, {**HELM, "type": "foo"}])
def test_what_was_deployed_is_taken_away_whatever_it_is_by_now(deployment: dict[str, str] | None) -> None:
    landscape = deployed()
    landscape.stage.remove((Cluster.SOURCE, registration()))
    if deployment is not None:
        landscape.stage.put(Cluster.SOURCE, registration(deployment))

    assert landscape.turn() == Plan(requeue_after=30)
    landscape.remove(MANAGED_RESOURCES, INSTALLATION, "garden")
    landscape.turn()
    landscape.remove(NAMESPACES, NAMESPACE)
    landscape.turn()

    assert landscape.installation is None


def test_a_deployment_that_is_no_chart_any_more_stays_until_the_installation_goes() -> None:
    landscape = Landscape(seed(), registration(), installation())
    landscape.turn()
    landscape.patch(Cluster.SOURCE, registration(), {"spec": {"deployment": {"type": "foo"}}})

    assert landscape.turn() == Plan()
    assert landscape.writes == []
    assert landscape.installation["metadata"]["finalizers"] == [FINALIZER]


def test_without_its_seed_an_installation_stays() -> None:
    landscape = deployed()
    landscape.stage.remove((Cluster.SOURCE, seed()))

    assert error_of(landscape.turn()).startswith("Referenced Seed does not exist: ")
    assert landscape.conditions == {"Valid": ("False", "SeedNotFound"), "Installed": ("False", "InstallationPending")}
    assert landscape.installation["metadata"]["finalizers"] == [FINALIZER]


def test_a_seed_that_cannot_be_read_is_told() -> None:
    landscape = deployed()
    landscape.fail(Cluster.SOURCE, "GET", f"/{SEEDS.plural}/{SEED}")

    assert error_of(landscape.turn()) == "Referenced Seed cannot be read: a fault"
    assert landscape.conditions["Valid"] == ("Unknown", "SeedReadError")


def test_the_conditions_of_others_stay_wherever_they_stand() -> None:
    landscape = deployed()
    types = ("Healthy", "Required", "Installed", "Valid")
    stored = [{"type": each, "status": "True", "reason": each, "message": each} for each in types]
    landscape.patch(Cluster.SOURCE, installation(), {"status": {"conditions": stored}}, "status")

    landscape.turn()

    assert landscape.conditions == {each: ("True", each) for each in types} | {"Installed": PENDING}
    assert [*landscape.conditions] == [*types]


@pytest.mark.parametrize(
    ("path", "subject"),
    [("/garden/secrets/", f"{MANAGED} and its secrets"), ("/managedresources/", f"{MANAGED} and its secrets")],
)
def test_what_cannot_be_deleted_is_told(path: str, subject: str) -> None:
    landscape = deployed()
    landscape.fail(Cluster.TARGET, "DELETE", path)

    assert error_of(landscape.turn()) == f"Deletion of {subject} failed: a fault"
    assert landscape.conditions["Installed"] == FAILED


def test_a_managed_resource_that_cannot_be_read_is_told() -> None:
    landscape = deployed()
    landscape.turn()
    landscape.fail(Cluster.TARGET, "GET", "/managedresources/")

    assert error_of(landscape.turn()) == f"Deletion of {MANAGED} and its secrets failed: a fault"


@pytest.mark.parametrize(("method", "code"), [("GET", 500), ("DELETE", 500)])
def test_a_namespace_that_cannot_be_deleted_is_told(method: str, code: int) -> None:
    landscape = deployed()
    landscape.remove(MANAGED_RESOURCES, INSTALLATION, "garden")
    landscape.fail(Cluster.TARGET, method, f"/namespaces/{NAMESPACE}", code)

    assert error_of(landscape.turn()) == f'Deletion of Namespace "{NAMESPACE}" failed: a fault'
    assert landscape.conditions["Installed"] == FAILED


def test_a_conflict_over_the_namespace_is_waited_out() -> None:
    landscape = deployed()
    landscape.remove(MANAGED_RESOURCES, INSTALLATION, "garden")
    landscape.fail(Cluster.TARGET, "DELETE", f"/namespaces/{NAMESPACE}", 409)

    assert landscape.turn() == Plan(requeue_after=30)
    assert landscape.conditions["Installed"] == PENDING


def test_an_installation_goes_only_once_its_conditions_are_stored() -> None:
    landscape = deployed()
    landscape.remove(MANAGED_RESOURCES, INSTALLATION, "garden")
    landscape.remove(NAMESPACES, NAMESPACE)
    landscape.fail(Cluster.SOURCE, "PATCH", f"/{INSTALLATION}/status")

    assert error_of(landscape.turn()) == "conditions cannot be stored: a fault"
    assert landscape.installation["metadata"]["finalizers"] == [FINALIZER]


@pytest.mark.parametrize(("method", "nth"), [("PATCH", 0), ("GET", 1)])
def test_a_finalizer_that_cannot_be_taken_off_is_tried_again(method: str, nth: int) -> None:
    landscape = deployed()
    landscape.remove(MANAGED_RESOURCES, INSTALLATION, "garden")
    landscape.remove(NAMESPACES, NAMESPACE)
    conditions = [{"type": "Valid", "status": "True"}, {"type": "Installed", "status": DONE[0], "reason": DONE[1]}]
    conditions[1]["message"] = "Deletion of old resources succeeded."
    times = {"lastTransitionTime": "2025-01-01T00:00:00Z", "lastUpdateTime": "2025-01-01T00:00:00Z"}
    stored = {"conditions": [each | times for each in conditions]}
    landscape.patch(Cluster.SOURCE, installation(), {"status": stored}, "status")
    landscape.fail(Cluster.SOURCE, method, f"/{INSTALLATION}", after=nth, times=1)

    assert error_of(landscape.turn()) == "a fault"
    landscape.turn()
    assert landscape.installation is None


def test_an_installation_that_somebody_else_lets_go_meanwhile_is_gone() -> None:
    landscape = deployed()
    landscape.remove(MANAGED_RESOURCES, INSTALLATION, "garden")
    landscape.remove(NAMESPACES, NAMESPACE)
    landscape.fail(Cluster.SOURCE, "GET", f"/{INSTALLATION}", 404, after=1)

    assert landscape.turn() == Plan()


@pytest.mark.parametrize("steps", range(12))
def test_another_installation_of_the_name_keeps_its_finalizer(steps: int) -> None:
    landscape, left = deployed(), iter(range(steps, -1, -1))
    landscape.remove(MANAGED_RESOURCES, INSTALLATION, "garden")
    landscape.remove(NAMESPACES, NAMESPACE)

    def replace(_moment: int) -> None:
        if next(left, None) == 0:
            landscape.stage.remove((Cluster.SOURCE, installation()))
            landscape.stage.put(Cluster.SOURCE, installation(finalizers=[FINALIZER]))

    landscape.stage.at_moment = replace
    landscape.turn()

    if landscape.installation is not None and "deletionTimestamp" not in landscape.installation["metadata"]:
        assert landscape.installation["metadata"]["finalizers"] == [FINALIZER]


# With its definition.


def lose_definition(landscape: Landscape) -> None:
    lose_definitions(landscape.stage, [each for each in KINDS if each.resource == CONTROLLER_INSTALLATIONS])


def test_what_is_in_the_seed_stays_when_somebody_deletes_the_definition_of_installations() -> None:
    landscape = Landscape(seed(), registration(), installation())
    landscape.turn()
    lose_definition(landscape)

    plan = landscape.turn()

    assert [(each.reason, each.note) for each in plan.events] == [
        (
            "DefinitionTerminating",
            "the definition of ControllerInstallation is being deleted, so what it has installed stays",
        )
    ]
    assert (landscape.writes, landscape.installation) == ([f"MergePatch ControllerInstallation {INSTALLATION}"], None)
    assert None not in (landscape.managed_resource, landscape.found(NAMESPACES, NAMESPACE))


def test_nothing_is_deleted_while_nobody_knows_what_becomes_of_the_definition() -> None:
    landscape = deployed()
    landscape.fail(Cluster.SOURCE, "GET", "customresourcedefinitions", times=1)

    assert error_of(landscape.turn()) == (
        "Deletion of what is in the seed failed: the definition of ControllerInstallation cannot be read: a fault"
    )
    assert landscape.conditions["Installed"] == FAILED
    assert landscape.managed_resource is not None
    landscape.turn()
    assert "Delete ManagedResource os-coreos-abcde" in landscape.writes
