"""Which pods get a token mounted, and for how long it is valid."""

from typing import Any

import pytest

from hedgerow.admission import AdmissionRequest, Allowed, Decision, Denied, Mutated, creation
from hedgerow.admission.projected_token_mount import decide, webhook
from hedgerow.api.kubernetes import PODS, SERVICE_ACCOUNTS
from hedgerow.api.tokens import MOUNT_EXPIRATION
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.questions import Answer, Found, NotAnswered, ObjectQuestion
from tests.unit.core.admission.world import decided, told, world

CONFIGURED = 43200
WEBHOOK = webhook(CONFIGURED)
QUESTION = ObjectQuestion(SERVICE_ACCOUNTS, ObjectKey("shop", "sa"), Cluster.TARGET)
MOUNT = {
    "name": "kube-api-access-gardener",
    "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
    "readOnly": True,
}
CONTAINERS = {
    "containers": [{"name": "one"}, {"name": "two", "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}]}],  # noqa: S108 -- a path in a manifest
    "initContainers": [{"name": "first"}],
}


def service_account(*, automount: bool | None = False) -> Manifest:
    metadata = {"namespace": "shop", "name": "sa"}
    absent: Manifest = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    return absent if automount is None else {**absent, "automountServiceAccountToken": automount}


def pod_creation(spec: Manifest, annotations: Any = None) -> AdmissionRequest:
    metadata = {"namespace": "shop", "annotations": annotations}
    return creation(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


def decision_about(spec: Manifest, account: Manifest | None, annotations: Any = None) -> Decision:
    return decide(pod_creation(spec, annotations), account, CONFIGURED)


def seconds_in(decision: Decision) -> Any:
    """For how long the token of the volume is valid that was added."""
    assert isinstance(decision, Mutated)
    return decision.object["spec"]["volumes"][-1]["projected"]["sources"][0]["serviceAccountToken"]["expirationSeconds"]


@pytest.mark.parametrize("name", ["", "default", None], ids=["P01", "P01 default", "P01 absent"])
def test_a_pod_of_the_default_account_stays_as_it_is_and_nothing_is_looked_up(name: Any) -> None:
    request = pod_creation({"serviceAccountName": name, **CONTAINERS})

    assert told(WEBHOOK, request, Found(())) == (Allowed(), [])
    assert decide(request, None, CONFIGURED) == Allowed()


@pytest.mark.parametrize("spec", [{"serviceAccountName": "sa", **CONTAINERS}], ids=["P02"])
def test_a_pod_whose_account_does_not_exist_is_denied(spec: Manifest) -> None:
    assert decision_about(spec, None) == Denied(404, 'ServiceAccount "sa" not found', "NotFound")


@pytest.mark.parametrize(
    ("spec", "account"),
    [
        pytest.param({}, service_account(automount=None), id="P03 absent"),
        pytest.param({}, service_account(automount=True), id="P03 true"),
        pytest.param({"automountServiceAccountToken": False}, service_account(), id="P04"),
        pytest.param({"volumes": [{"name": "kube-api-access-2138h"}]}, service_account(), id="P05"),
    ],
)
def test_a_pod_that_has_or_wants_no_other_token_stays_as_it_is(spec: Manifest, account: Manifest) -> None:
    assert decision_about({"serviceAccountName": "sa", **CONTAINERS, **spec}, account) == Allowed()


@pytest.mark.parametrize("spec", [{}, {"automountServiceAccountToken": True}], ids=["P06", "P09"])
def test_the_token_is_mounted_into_every_container(spec: Manifest) -> None:
    given = {"serviceAccountName": "sa", "volumes": [{"name": "tmp"}], **CONTAINERS, **spec}
    decision = decision_about(given, service_account())

    assert isinstance(decision, Mutated)
    assert [mutation.rule for mutation in decision.mutations] == ["token-volume", "token-mounts"]
    assert decision.object["spec"] == {
        **given,
        "containers": [
            {"name": "one", "volumeMounts": [MOUNT]},
            {"name": "two", "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}, MOUNT]},  # noqa: S108 -- as above
        ],
        "initContainers": [{"name": "first", "volumeMounts": [MOUNT]}],
        "volumes": [
            {"name": "tmp"},
            {
                "name": "kube-api-access-gardener",
                "projected": {
                    "defaultMode": 420,
                    "sources": [
                        {"serviceAccountToken": {"expirationSeconds": 43200, "path": "token"}},
                        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                        {
                            "downwardAPI": {
                                "items": [
                                    {
                                        "path": "namespace",
                                        "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                                    }
                                ]
                            }
                        },
                    ],
                },
            },
        ],
    }


@pytest.mark.parametrize(
    ("annotation", "seconds"),
    [pytest.param("8998", 8998, id="P07"), pytest.param("+1", 1, id="sign"), pytest.param("-5", -5, id="negative")],
)
def test_a_pod_may_say_for_how_long_its_token_is_valid(annotation: str, seconds: int) -> None:
    decision = decision_about({"serviceAccountName": "sa"}, service_account(), {MOUNT_EXPIRATION: annotation})

    assert seconds_in(decision) == seconds


def test_other_annotations_do_not_matter() -> None:
    assert seconds_in(decision_about({"serviceAccountName": "sa"}, service_account(), {"other": "x"})) == CONFIGURED


@pytest.mark.parametrize(
    ("annotation", "problem"),
    [
        pytest.param("abc", "must be an integer", id="P08"),
        pytest.param("", "must be an integer", id="P08 empty"),
        pytest.param(str(2**63), "must be an integer of 64 bits", id="too large"),
    ],
)
def test_an_annotation_that_is_no_integer_denies(annotation: str, problem: str) -> None:
    decision = decision_about({"serviceAccountName": "sa"}, service_account(), {MOUNT_EXPIRATION: annotation})

    assert decision == Denied(403, f"metadata.annotations[{MOUNT_EXPIRATION}]: {problem}", "Forbidden")


def test_the_account_is_looked_up_in_the_namespace_of_the_request() -> None:
    other = {**service_account(automount=True), "metadata": {"namespace": "other", "name": "sa"}}
    request = pod_creation({"serviceAccountName": "sa"})

    assert seconds_in(decided(WEBHOOK, request, other, service_account())) == CONFIGURED


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Found((service_account(automount=True),)), Allowed()),
        (
            NotAnswered(404, "NotFound", 'serviceaccounts "sa" not found'),
            Denied(404, 'serviceaccounts "sa" not found', "NotFound"),
        ),
        (NotAnswered(500, "", "no answer"), Denied(500, "no answer")),
        (NotAnswered(403, "Forbidden", "may not"), Denied(403, "may not", "Forbidden")),
        (Found(()), Denied(404, 'ServiceAccount "sa" not found', "NotFound")),
    ],
    ids=["found", "not found", "no answer", "refused", "nothing"],
)
def test_an_account_that_no_cache_shows_is_read_live(answer: Answer, expected: Decision) -> None:
    decision, questions = told(WEBHOOK, pod_creation({"serviceAccountName": "sa"}), answer)

    assert (decision, questions) == (expected, [QUESTION])
    if isinstance(decision, Denied):
        assert decision.is_undecided is (isinstance(answer, NotAnswered) and not answer.is_not_found)


@pytest.mark.parametrize("name", ["../secrets/admin", "UPPER", "a" * 254])
def test_a_name_that_no_object_can_have_is_never_asked_for(name: str) -> None:
    decision, questions = told(WEBHOOK, pod_creation({"serviceAccountName": name}), Found((service_account(),)))

    assert (decision, questions) == (Denied(404, f'ServiceAccount "{name}" not found', "NotFound"), [])


def test_no_more_of_an_account_is_kept_than_is_read() -> None:
    (kept,) = world(WEBHOOK, {**service_account(), "imagePullSecrets": [{"name": "big"}]}).list(SERVICE_ACCOUNTS)

    assert kept == {"metadata": {"namespace": "shop", "name": "sa"}, "automountServiceAccountToken": False}
