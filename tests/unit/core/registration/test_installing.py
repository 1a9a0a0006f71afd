"""How a ControllerInstallation gets into the seed (C1 to C13, C17 to C20, C31)."""

from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from hedgerow.api.kubernetes import CONFIG_MAPS, NAMESPACES, SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS, RENDERING, SEEDS
from hedgerow.machinery.charts import RenderedFile, RenderError
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, concerned_keys
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.reading import with_value
from hedgerow.machinery.steps import Pause
from hedgerow.registration.chart_deployment import InstallationConfig
from hedgerow.registration.installing import installation_controller
from tests.snapshots import snapshot_over
from tests.unit.core.registration.landscape import (
    CONFIG_MAP,
    FINALIZER,
    HELM,
    INSTALLATION,
    NAMESPACE,
    REGISTRATION,
    SEED,
    Landscape,
    controller_deployment,
    installation,
    of,
    registration,
    seed,
)

PENDING = {"Valid": ("True", "RegistrationValid"), "Installed": ("False", "InstallationPending")}
INITIAL = ("Unknown", "ConditionInitialized")
GC = "resources.gardener.cloud/garbage-collectable-reference"
HA = "high-availability-config.resources.gardener.cloud"
POD_SECURITY = {"security.gardener.cloud/pod-security-enforce": "privileged"}
GARDEN, SEED_CLUSTER = Cluster.SOURCE, Cluster.TARGET


def error_of(plan: Plan) -> str:
    (failure,) = plan.failures
    return failure.problem.text


def with_chart(chart: Any) -> dict[str, Any]:
    return registration({"type": "helm", "providerConfig": chart})


# What is deployed.


@pytest.mark.parametrize(
    "garden",
    [
        pytest.param([registration(), installation()], id="C1"),
        pytest.param([registration(None), controller_deployment(), installation(by_reference=True)], id="C2"),
    ],
)
def test_a_chart_is_deployed_however_the_installation_says_that_it_is_one(garden: list[Any]) -> None:
    landscape = Landscape(seed(), *garden)

    assert landscape.turn() == Plan()

    assert landscape.installation["metadata"]["finalizers"] == [FINALIZER]
    namespace = landscape.found(NAMESPACES, NAMESPACE)["metadata"]
    assert {name: value for name, value in namespace["labels"].items() if name != "kubernetes.io/metadata.name"} == {
        "gardener.cloud/role": "extension",
        "controllerregistration.core.gardener.cloud/name": REGISTRATION,
        f"{HA}/consider": "true",
    }
    assert namespace["annotations"] == {f"{HA}/zones": "a,b,c"}
    metadata, spec = landscape.managed_resource["metadata"], landscape.managed_resource["spec"]
    secret = f"{INSTALLATION}-8b9ae510"  # C32
    assert spec == {"class": "seed", "secretRefs": [{"name": secret}]}
    assert metadata["labels"] == {"controllerinstallation-name": INSTALLATION}
    references = {name: value for name, value in metadata["annotations"].items() if name != RENDERING}
    assert [*references.values()] == [secret]
    assert landscape.secret["type"] == "Opaque"
    assert landscape.secret["immutable"] is True
    assert landscape.secret["metadata"]["labels"] == {GC: "true"}
    (file,) = landscape.secret["data"].values()
    assert [*landscape.secret["data"]] == ["test_templates_config.yaml"]
    assert b64decode(file).decode() == (
        "\n---\napiVersion: v1\ndata:\n  foo: bar\nkind: ConfigMap\nmetadata:\n  name: config\n"
        "  namespace: extension-os-coreos-abcde\n\n---\n"
    )
    assert landscape.conditions == PENDING
    assert landscape.message("Valid") == "Chart could be rendered successfully."
    assert landscape.message("Installed") == f'Installation of ManagedResource "{INSTALLATION}" is still pending.'


def test_a_chart_is_rendered_for_the_version_of_the_seed_and_named_after_its_registration() -> None:
    landscape = Landscape(seed(), registration(), installation(), config={"api_versions": ("a/v1",)})
    landscape.stage.clusters[SEED_CLUSTER].version = "v1.29.4-gke.100+abc"

    landscape.turn()

    (asked,) = landscape.render.asked
    assert (asked.chart, asked.release, asked.namespace) == (b"a chart", REGISTRATION, NAMESPACE)
    assert (asked.kube_version, asked.api_versions) == ("v1.29.4", ("a/v1",))


def test_nothing_is_rendered_until_the_version_of_the_seed_is_known() -> None:
    landscape = Landscape(seed(), registration(), installation())
    landscape.stage.clusters[SEED_CLUSTER].version = "unknown"

    assert error_of(landscape.turn()) == f"the version of the API server of Seed {SEED} is not known yet"
    assert landscape.render.asked == []
    assert landscape.conditions == {"Valid": INITIAL, "Installed": INITIAL}


def test_the_namespace_enforces_what_the_installation_says_as_long_as_it_does() -> None:
    landscape = Landscape(seed(), registration(), installation(annotations=POD_SECURITY))
    enforced = "pod-security.kubernetes.io/enforce"

    landscape.turn()
    assert landscape.found(NAMESPACES, NAMESPACE)["metadata"]["labels"][enforced] == "privileged"

    landscape.patch(GARDEN, installation(), {"metadata": {"annotations": {next(iter(POD_SECURITY)): None}}})
    landscape.turn()
    assert enforced not in landscape.found(NAMESPACES, NAMESPACE)["metadata"]["labels"]


def test_labels_and_annotations_of_others_stay() -> None:
    theirs = {"labels": {"a": "b"}, "annotations": {"c": "d"}}
    found = of(MANAGED_RESOURCES, INSTALLATION, "garden", metadata=theirs, spec={"keepObjects": True})
    landscape = Landscape(
        seed(), registration(), installation(), seed=[of(NAMESPACES, NAMESPACE, metadata=theirs), found]
    )

    landscape.turn()

    for manifest in (landscape.found(NAMESPACES, NAMESPACE), landscape.managed_resource):
        assert manifest["metadata"]["labels"]["a"] == "b"
        assert manifest["metadata"]["annotations"]["c"] == "d"
    assert "keepObjects" not in landscape.managed_resource["spec"]


def test_a_template_with_several_documents_is_one_file_and_one_without_any_is_none() -> None:
    second = with_value(CONFIG_MAP, ("metadata", "name"), "second")
    files = (RenderedFile("a/templates/x.yaml", (CONFIG_MAP, second)), RenderedFile("a/templates/y.yaml", ()))
    landscape = Landscape(seed(), registration(), installation(), rendered=files)

    landscape.turn()

    (text,) = landscape.secret["data"].values()
    assert b64decode(text).decode().count("\n---\n") == 3


def test_no_object_is_lost_where_two_paths_become_one_key() -> None:
    second = with_value(CONFIG_MAP, ("metadata", "name"), "second")
    files = (RenderedFile("a/b/x.yaml", (CONFIG_MAP,)), RenderedFile("a_b/x.yaml", (second,)))
    landscape = Landscape(seed(), registration(), installation(), rendered=files)

    landscape.turn()

    assert [*landscape.secret["data"]] == ["a_b_x.yaml"]
    assert b64decode(landscape.secret["data"]["a_b_x.yaml"]).decode().count("kind: ConfigMap") == 2


def test_a_large_chart_lets_others_run_meanwhile() -> None:
    large = with_value(CONFIG_MAP, ("data", "foo"), "x" * 40_000)
    files = [RenderedFile(f"a/templates/{number}.yaml", (large, large)) for number in range(3)]
    landscape = Landscape(seed(), registration(), installation(), rendered=tuple(files))

    landscape.turn()

    assert sum(isinstance(step, Pause) for step in landscape.stage.turns[-1].steps) == 3
    assert len(landscape.secret["data"]) == 3


def test_a_chart_may_render_nothing() -> None:
    landscape = Landscape(seed(), registration(), installation(), rendered=())

    landscape.turn()

    assert landscape.secret["metadata"]["name"] == f"{INSTALLATION}-e3b0c442"
    assert landscape.conditions == PENDING


# What is nobody's business here.


@pytest.mark.parametrize(
    "garden",
    [
        [registration({**HELM, "type": "foo"}), installation()],
        [registration(None), installation()],
        [registration(), controller_deployment("foo"), installation(by_reference=True)],
    ],
)
def test_what_others_deploy_is_left_alone(garden: list[Any]) -> None:
    landscape = Landscape(seed(), *garden)

    assert landscape.turn() == Plan()
    assert landscape.writes == []


def test_what_is_meant_for_another_seed_is_left_alone() -> None:
    landscape = Landscape(seed(), registration(), installation(), config={"seed": "other"})

    assert landscape.turn() == Plan()
    assert landscape.stage.turns[-1].steps == ()


def test_an_installation_that_is_for_another_seed_by_now_is_left_alone() -> None:
    landscape = Landscape(seed(), registration(), installation())
    landscape.patch(GARDEN, installation(), {"spec": {"seedRef": {"name": "other"}}})
    landscape.stage.lag = 1

    assert landscape.turn() == Plan()
    assert landscape.writes == []


# What is missing or unreadable.


def test_without_what_says_how_it_is_deployed_an_installation_that_was_never_deployed_is_left_alone() -> None:
    landscape = Landscape(seed(), installation())

    assert error_of(landscape.turn()).startswith("Referenced ControllerRegistration does not exist: ")
    assert landscape.writes == []


HELD: dict[str, Any] = {"finalizers": [FINALIZER]}


@pytest.mark.parametrize(
    ("garden", "kind"),
    [
        pytest.param([seed(), installation(**HELD)], "Registration", id="C5"),
        pytest.param([seed(), controller_deployment(), installation(by_reference=True)], "Registration", id="C5 ref"),
        pytest.param([seed(), registration(), installation(by_reference=True, **HELD)], "Deployment", id="deployment"),
        pytest.param([registration(), installation()], "Seed", id="C6"),
    ],
)
@pytest.mark.parametrize(("code", "status", "reason"), [(404, "False", "NotFound"), (500, "Unknown", "ReadError")])
def test_an_object_that_is_referred_to_and_cannot_be_had_is_told(
    garden: list[Any], kind: str, code: int, status: str, reason: str
) -> None:
    landscape = Landscape(*garden)
    if code == 500:
        landscape.fail(GARDEN, "GET", f"/{'seeds' if kind == 'Seed' else f'controller{kind.lower()}s'}/")

    assert error_of(landscape.turn()) == landscape.message("Valid")
    assert landscape.conditions == {"Valid": (status, f"{kind}{reason}"), "Installed": INITIAL}
    assert landscape.found(NAMESPACES, NAMESPACE) is None


def test_a_registration_of_another_shape_cannot_be_read() -> None:
    landscape = Landscape(seed(), registration(), installation(**HELD))
    landscape.patch(GARDEN, registration(), {"spec": {"deployment": ["helm"]}})

    landscape.turn()

    assert landscape.conditions["Valid"] == ("Unknown", "RegistrationReadError")
    assert landscape.message("Valid").endswith("spec.deployment: expected an object, got a list")


def test_a_seed_of_another_shape_cannot_be_read() -> None:
    landscape = Landscape(seed(volume={"providers": "none"}), registration(), installation())

    landscape.turn()

    assert landscape.conditions["Valid"] == ("Unknown", "SeedReadError")


@pytest.mark.parametrize(
    ("chart", "problem"),
    [
        (None, "providerConfig: expected an object, got null"),
        ([], "providerConfig: expected an object, got a list"),
        ({"chart": "%%%"}, "chart: must be encoded in base64"),
        ({"chart": 1}, "chart: expected a string, got an integer"),
        ({"values": [1]}, "values: expected an object, got a list"),
    ],
)
def test_a_chart_that_cannot_be_read_is_told_and_not_tried_again(chart: Any, problem: str) -> None:
    landscape = Landscape(seed(), with_chart(chart), installation())

    (failure,) = landscape.turn().failures

    assert not failure.retryable
    assert landscape.conditions == {"Valid": ("False", "ChartInformationInvalid"), "Installed": INITIAL}
    assert landscape.message("Valid") == f"Chart Information cannot be unmarshalled: {problem}"
    assert landscape.found(NAMESPACES, NAMESPACE) is None


def test_one_whose_conditions_cannot_be_stored_is_tried_again_until_it_is_told() -> None:
    landscape = Landscape(seed(), with_chart({"chart": 1}), installation())
    landscape.fail(Cluster.SOURCE, "PATCH", f"/{INSTALLATION}/status", times=1)

    plans = landscape.turn(), landscape.turn()

    assert [failure.retryable for plan in plans for failure in plan.failures] == [True, False]
    assert landscape.conditions["Valid"] == ("False", "ChartInformationInvalid")


def test_without_a_chart_there_is_nothing_to_render() -> None:
    landscape = Landscape(seed(), with_chart({}), installation(), rendered=RenderError("chart", "no chart"))

    landscape.turn()

    (asked,) = landscape.render.asked
    assert (asked.chart, asked.values["gardener"]["seed"]["name"]) == (b"", SEED)
    assert landscape.conditions["Valid"] == ("False", "ChartCannotBeRendered")
    assert landscape.found(NAMESPACES, NAMESPACE) is not None


@pytest.mark.parametrize(
    ("error", "condition"),
    [
        (RenderError("chart", "x"), ("False", "ChartCannotBeRendered")),
        (RenderError("unavailable", "x"), ("Unknown", "ChartRendererUnavailable")),
        (RenderError("timeout", "x"), ("Unknown", "ChartRendererUnavailable")),
    ],
)
def test_a_chart_that_is_not_rendered_is_told_and_tried_again(error: RenderError, condition: tuple[str, str]) -> None:
    landscape = Landscape(seed(), registration(), installation(), rendered=error)

    (failure,) = landscape.turn().failures

    assert failure.retryable
    assert landscape.conditions == {"Valid": condition, "Installed": INITIAL}
    assert landscape.message("Valid") == "Chart rendering process failed: x"
    landscape.render.rendered = ()
    assert landscape.turn() == Plan()
    assert landscape.conditions == PENDING


def forget_seed(landscape: Landscape) -> None:
    landscape.patch(GARDEN, seed(), {"status": {"clusterIdentity": None}}, "status")


def forget_garden(landscape: Landscape) -> None:
    landscape.remove(CONFIG_MAPS, "cluster-identity", "kube-system", GARDEN)


def lose_garden(landscape: Landscape) -> None:
    landscape.remove(NAMESPACES, "garden", "", GARDEN)


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        pytest.param(forget_seed, "Seed aws-eu1: status.clusterIdentity is not set", id="C11"),
        (forget_garden, "unable to determine cluster id: "),
        (lose_garden, 'namespaces "garden" not found'),
    ],
)
def test_nothing_is_rendered_until_both_clusters_are_known(spoil: Callable[[Landscape], None], problem: str) -> None:
    landscape = Landscape(seed(), registration(), installation())
    spoil(landscape)

    assert error_of(landscape.turn()).startswith(problem)
    assert landscape.found(NAMESPACES, NAMESPACE) is not None
    assert landscape.conditions == {"Valid": INITIAL, "Installed": INITIAL}
    assert landscape.render.asked == []


# What fails in the seed.


def test_a_seed_that_does_not_answer_is_tried_again_and_no_condition_speaks_of_it() -> None:
    landscape = Landscape(seed(), registration(), installation())
    landscape.fail(SEED_CLUSTER, "", "/api")

    (failure,) = landscape.turn().failures

    assert failure.retryable
    assert landscape.conditions == {"Valid": INITIAL, "Installed": INITIAL}
    assert landscape.render.asked == []


@pytest.mark.parametrize(("method", "path"), [("POST", "managedresources"), ("POST", "/garden/secrets")])
def test_what_cannot_be_written_is_told(method: str, path: str) -> None:
    landscape = Landscape(seed(), registration(), installation())
    landscape.fail(SEED_CLUSTER, method, path, 413)

    assert error_of(landscape.turn()) == f'Creation of ManagedResource "{INSTALLATION}" failed: a fault'
    assert landscape.conditions == {**PENDING, "Installed": ("False", "InstallationFailed")}


def test_a_namespace_that_cannot_be_written_ends_the_turn() -> None:
    landscape = Landscape(seed(), registration(), installation())
    landscape.fail(SEED_CLUSTER, "POST", "/namespaces")

    assert error_of(landscape.turn()) == "a fault"
    assert landscape.managed_resource is None


def test_conditions_that_cannot_be_stored_are_tried_again() -> None:
    landscape = Landscape(seed(), registration(), installation())
    landscape.fail(GARDEN, "PATCH", "/status", times=1)

    assert error_of(landscape.turn()) == "conditions cannot be stored: a fault"
    landscape.turn()
    assert landscape.conditions == PENDING


def test_nothing_is_deployed_for_an_installation_that_cannot_be_held() -> None:
    landscape = Landscape(seed(), registration(), installation())
    landscape.fail(GARDEN, "PATCH", INSTALLATION, 409)

    assert error_of(landscape.turn()) == "failed to add finalizer: a fault"
    assert landscape.found(NAMESPACES, NAMESPACE) is None


def test_an_installation_that_cannot_be_read_is_tried_again_and_one_that_is_gone_is_not() -> None:
    landscape = Landscape(seed(), registration(), installation())
    landscape.fail(GARDEN, "GET", INSTALLATION, times=1)

    assert error_of(landscape.turn()) == "a fault"
    landscape.stage.lag = 1
    landscape.stage.remove((GARDEN, installation()))
    assert landscape.turn() == Plan()
    landscape.stage.lag = 0
    assert landscape.turn() == Plan()


def test_an_installation_of_another_shape_is_told() -> None:
    landscape = Landscape(seed(), registration(), installation())
    landscape.patch(GARDEN, installation(), {"spec": {"registrationRef": "os-coreos"}})

    assert "spec.registrationRef: expected an object" in str(landscape.turn().failures[0])


@pytest.mark.parametrize("status", ["True", "False"])
def test_what_is_known_of_the_installation_stays(status: str) -> None:
    landscape = Landscape(seed(), registration(), installation())
    conditions = [{"type": "Installed", "status": status, "reason": "R", "message": "m"}]
    landscape.patch(GARDEN, installation(), {"status": {"conditions": conditions}}, "status")

    landscape.turn()

    assert landscape.conditions == {**PENDING, "Installed": (status, "R")}


# What has changed, and what has not.


@pytest.mark.parametrize("is_new_process", [True, False])
def test_nothing_is_written_or_rendered_while_nothing_changes(*, is_new_process: bool) -> None:
    landscape = Landscape(seed(), registration(), installation())
    landscape.turn()
    if is_new_process:
        landscape.stage.restart()

    assert landscape.turn() == Plan()
    assert landscape.writes == []
    assert len(landscape.render.asked) == 1


def change_values(landscape: Landscape) -> None:
    landscape.patch(GARDEN, registration(), {"spec": {"deployment": {"providerConfig": {"values": {"foo": "baz"}}}}})


def change_seed(landscape: Landscape) -> None:
    landscape.patch(GARDEN, seed(), {"metadata": {"labels": {"a": "b"}}})


def change_version(landscape: Landscape) -> None:
    landscape.stage.clusters[SEED_CLUSTER].version = "v2.0.0"


def lose_secret(landscape: Landscape) -> None:
    landscape.remove(SECRETS, landscape.secret["metadata"]["name"], "garden")


def replace_secret(landscape: Landscape) -> None:
    secret = landscape.secret
    lose_secret(landscape)
    metadata = {name: secret["metadata"][name] for name in ("name", "namespace", "labels")}
    landscape.stage.put(SEED_CLUSTER, {**secret, "metadata": metadata, "data": {}, "immutable": False})


def lose_managed_resource(landscape: Landscape) -> None:
    landscape.remove(MANAGED_RESOURCES, INSTALLATION, "garden")


def edit(patch: Mapping[str, Any]) -> Callable[[Landscape], None]:
    return lambda landscape: landscape.patch(SEED_CLUSTER, landscape.managed_resource, patch)


@pytest.mark.parametrize(
    "change",
    [
        change_values,
        change_seed,
        change_version,
        lose_secret,
        replace_secret,
        lose_managed_resource,
        edit({"spec": {"secretRefs": []}}),
        edit({"spec": {"keepObjects": True}}),
        edit({"metadata": {"annotations": {RENDERING: None}}}),
        edit({"metadata": {"labels": {"controllerinstallation-name": "other"}}}),
    ],
)
def test_whatever_changes_is_brought_in_order(change: Callable[[Landscape], None]) -> None:
    landscape = Landscape(seed(), registration(), installation())
    landscape.turn()
    before = landscape.managed_resource, landscape.secret
    change(landscape)

    landscape.turn()

    assert len(landscape.render.asked) == 2
    assert landscape.managed_resource["spec"] == before[0]["spec"]
    assert landscape.managed_resource["metadata"]["labels"] == before[0]["metadata"]["labels"]
    assert landscape.secret["data"] == before[1]["data"]
    landscape.turn()
    assert landscape.writes == []


def test_a_managed_resource_of_another_shape_is_told() -> None:
    landscape = Landscape(seed(), registration(), installation())
    landscape.turn()
    edit({"spec": {"secretRefs": "none"}})(landscape)

    assert "spec.secretRefs: expected a list" in error_of(landscape.turn())
    assert landscape.conditions["Installed"] == ("False", "InstallationFailed")


def test_the_secret_of_the_last_rendering_is_left_to_garbage_collection() -> None:
    landscape = Landscape(seed(), registration(), installation())
    landscape.turn()
    old = landscape.secret["metadata"]["name"]
    landscape.render.rendered = ()
    change_values(landscape)

    landscape.turn()

    assert landscape.secret["metadata"]["name"] == f"{INSTALLATION}-e3b0c442"
    assert landscape.found(SECRETS, old, "garden")["metadata"]["labels"] == {GC: "true"}


def test_a_secret_of_an_earlier_rendering_does_not_pass_for_the_last_one() -> None:
    landscape = Landscape(seed(), registration(), installation())
    landscape.turn()
    old = landscape.managed_resource
    landscape.render.rendered = ()
    change_values(landscape)
    landscape.turn()
    new = landscape.managed_resource
    stale = {name: None for name in new["metadata"]["annotations"] if name != RENDERING}
    kept = {name: value for name, value in old["metadata"]["annotations"].items() if name != RENDERING}
    edit({"metadata": {"annotations": {**stale, **kept}}, "spec": old["spec"]})(landscape)

    landscape.turn()

    assert landscape.managed_resource["spec"] == new["spec"]


def test_a_chart_whose_text_changes_by_chance_is_not_deployed_anew() -> None:
    landscape = Landscape(seed(), registration(), installation())
    landscape.turn()
    landscape.render.rendered = ()

    landscape.turn()

    assert landscape.writes == []


# Which changes bring a turn (C31).


def passes(old: Any, new: Any) -> bool:
    controller = installation_controller(InstallationConfig(SEED))
    watch, _ = controller.watches
    change = Change(old and watch.transform(old), new and watch.transform(new))
    return bool(concerned_keys(watch, change, snapshot_over(controller)))


BEFORE = installation(by_reference=True, resourceVersion="1")


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("status", "conditions"), [], False),
        (("metadata", "labels"), {"a": "b"}, False),
        (("metadata", "finalizers"), [FINALIZER], False),
        (("metadata", "deletionTimestamp"), "2026-01-01T00:00:00Z", True),
        (("spec", "registrationRef", "resourceVersion"), "2", True),
        (("spec", "registrationRef", "kind"), "ControllerRegistration", False),
        (("spec", "seedRef", "resourceVersion"), "2", True),
        (("spec", "deploymentRef", "name"), "other", True),
        (("spec", "deploymentRef", "resourceVersion"), "2", True),
        (("spec", "deploymentRef"), None, True),
    ],
)
def test_a_change_brings_a_turn_if_it_asks_for_something_else(
    path: tuple[str, ...], value: Any, *, expected: bool
) -> None:
    after = with_value(with_value(BEFORE, ("metadata", "resourceVersion"), "2"), path, value)

    assert passes(BEFORE, after) is expected


def test_a_creation_a_deletion_and_a_resync_bring_a_turn() -> None:
    assert passes(None, BEFORE)
    assert passes(BEFORE, None)
    assert passes(BEFORE, BEFORE)


def test_an_installation_that_is_on_its_way_out_already_brings_no_turn_with_every_change() -> None:
    gone = with_value(BEFORE, ("metadata", "deletionTimestamp"), "2026-01-01T00:00:00Z")

    assert not passes(gone, with_value(gone, ("metadata", "resourceVersion"), "2"))


def test_an_installation_for_another_seed_brings_no_turn() -> None:
    assert not passes(None, with_value(BEFORE, ("spec", "seedRef", "name"), "other"))


def test_only_the_end_of_a_managed_resource_brings_a_turn_of_its_installation() -> None:
    controller = installation_controller(InstallationConfig(SEED))
    _, watch = controller.watches
    landscape = Landscape(seed(), registration(), installation())
    landscape.turn()
    there = watch.transform(landscape.managed_resource)
    changes = Change(None, there), Change(there, there), Change(there, None)

    keys = [concerned_keys(watch, change, snapshot_over(controller)) for change in changes]

    assert keys == [set(), set(), {ObjectKey("", INSTALLATION)}]


def test_what_a_controller_without_access_to_the_garden_may_do_names_no_secrets_of_extensions() -> None:
    permissions = installation_controller(InstallationConfig(SEED)).permissions
    secrets = [each for each in permissions if each.plural == "secrets"]

    assert [each.namespace for each in secrets] == ["garden"]
    assert {each.plural for each in permissions if each.cluster is GARDEN} >= {SEEDS.plural, "configmaps", "namespaces"}
    assert CONTROLLER_INSTALLATIONS.plural in {each.plural for each in permissions}
