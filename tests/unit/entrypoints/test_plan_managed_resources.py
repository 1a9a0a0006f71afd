"""What a plan for ManagedResources says of those that are odd, and what it does not say of Secrets."""

import pytest

from tests.unit.entrypoints.command_line import NAMESPACE, Hedgerow

PLAN = ("plan", "managedresource", "-f", "-")
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
VALUE = "hunter2"
ENCODED = "aHVudGVyMg=="


def managed(name: str = "cart", spec: str = "secretRefs: [{name: cart}]", more: str = "", metadata: str = "") -> str:
    return (
        "apiVersion: resources.gardener.cloud/v1alpha1\nkind: ManagedResource\n"
        f"metadata: {{name: {name}, namespace: shop, generation: 1{metadata}}}\nspec: {{{spec}}}\n{more}\n---\n"
    )


SOURCE = f"""\
apiVersion: v1
kind: Secret
metadata: {{name: cart, namespace: shop}}
stringData:
  payment.yaml: |
    apiVersion: v1
    kind: Secret
    metadata: {{name: payment, namespace: shop, annotations: {{{LAST_APPLIED}: {VALUE}}}}}
    stringData: {{password: {VALUE}}}
---
"""
APPLY_FAILED = """\
status:
  conditions:
  - {type: ResourcesApplied, status: "False", reason: ApplyFailed, message: refused}
"""


@pytest.mark.parametrize(
    ("malformed", "problem"),
    [
        (managed("odd", "secretRefs: x"), "spec.secretRefs: expected a list, got a string"),
        (managed("odd", "secretRefs: [{name: cart}, a]"), "spec.secretRefs[1]: expected an object, got a string"),
        (managed("odd", "secretRefs: 5"), "spec.secretRefs: expected a list, got an integer"),
        (managed("odd", more="status: {resources: x}"), "status.resources: expected a list, got a string"),
    ],
)
@pytest.mark.parametrize("command", [("plan", "managedresource"), ("simulate", "managedresource")])
def test_a_malformed_one_is_told_of_and_the_others_are_planned_for(
    command: tuple[str, ...], malformed: str, problem: str, hedgerow: Hedgerow
) -> None:
    ended = hedgerow(*command, "-f", "-", stdin=NAMESPACE + malformed + managed() + SOURCE)

    assert ended.code == 1
    assert f"error: <stdin>:2: ManagedResource shop/odd: {problem}\n" in ended.err
    assert "name: payment" in ended.out


def test_a_simulation_with_an_object_that_fails_comes_to_rest(hedgerow: Hedgerow) -> None:
    refused = SOURCE.replace("name: payment,", "name: payment_,")

    ended = hedgerow("simulate", "managedresource", "-f", "-", stdin=NAMESPACE + managed() + refused)

    assert ended.code == 1
    assert 'could not apply all new resources: error during apply of object "v1/Secret/shop/payment_": ' in ended.err
    assert "the controllers did not come to rest" not in ended.err
    assert "reason: ApplyFailed" in ended.out


def test_one_that_names_no_namespace_is_planned_for_in_the_default_one(hedgerow: Hedgerow) -> None:
    nowhere = (managed() + SOURCE).replace(", namespace: shop", "")

    ended = hedgerow(*PLAN, "-o", "table", stdin=nowhere)

    assert (ended.code, ended.err) == (
        2,
        "note: taken to be in namespace default: ManagedResource cart, Secret cart\n1 to create, 1 to change\n",
    )
    assert [line.split()[:4] for line in ended.out.splitlines()[1:]] == [
        ["create", "Secret", "default", "payment"],
        ["change", "ManagedResource", "default", "cart"],
    ]


def test_an_object_that_has_to_be_looked_at_again_is_created_once_with_its_texts_as_data(hedgerow: Hedgerow) -> None:
    again = NAMESPACE + managed(more=APPLY_FAILED) + SOURCE

    table = hedgerow(*PLAN, "-o", "table", stdin=again)
    shown = hedgerow(*PLAN, "--show-secrets", stdin=again)

    assert table.out.count(" payment ") == 1
    assert f"+data:\n+  password: {ENCODED}\n" in shown.out
    assert "stringData" not in shown.out


APPLIED = f"""\
status:
  resources:
  - apiVersion: v1
    kind: Secret
    name: payment
    namespace: shop
    annotations: {{{LAST_APPLIED}: {VALUE}}}
"""


@pytest.mark.parametrize("output", ["diff", "json", "yaml"])
def test_values_of_secrets_are_in_no_annotation_and_no_status(output: str, hedgerow: Hedgerow) -> None:
    """Neither what has been applied before repeats them, nor does what is going to be said of it."""
    ended = hedgerow(*PLAN, "-o", output, stdin=NAMESPACE + managed(more=APPLIED) + SOURCE)

    assert ended.code == 2
    assert VALUE not in ended.out
    assert ENCODED not in ended.out


OTHER_CLASS = managed(spec="class: seed, secretRefs: [{name: cart}]")


@pytest.mark.parametrize(
    ("left_alone", "remark"),
    [
        (OTHER_CLASS, 'ManagedResource shop/cart is of class "seed", planned for is "resources"'),
        (
            OTHER_CLASS + OTHER_CLASS.replace("cart", "till"),
            'ManagedResources shop/cart, shop/till are of class "seed", planned for is "resources"',
        ),
        (
            managed(metadata=", finalizers: [resources.gardener.cloud/gardener-resource-manager-seed]"),
            (
                "ManagedResource shop/cart is held by another class until that takes the finalizer "
                "resources.gardener.cloud/gardener-resource-manager-seed away"
            ),
        ),
        (
            managed(metadata=", annotations: {gardener.cloud/operation: wait-for-state}"),
            ("ManagedResource shop/cart is left alone, as the annotation gardener.cloud/operation=wait-for-state says"),
        ),
        (
            managed(metadata=", annotations: {resources.gardener.cloud/ignore: 'true'}"),
            "ManagedResource shop/cart is ignored, as the annotation resources.gardener.cloud/ignore says",
        ),
    ],
    ids=["other-class", "several", "held-by-another", "waiting", "ignored"],
)
def test_what_is_left_alone_is_said(left_alone: str, remark: str, hedgerow: Hedgerow) -> None:
    ended = hedgerow(*PLAN, stdin=NAMESPACE + left_alone + SOURCE)

    assert f"note: {remark}\n" in ended.err
    assert "name: payment" not in ended.out


@pytest.mark.usefixtures("repository")
def test_the_examples_fit_together(hedgerow: Hedgerow) -> None:
    plan = ("plan", "managedresource", "-f", "examples/managed-resources", "-o", "table")

    assert hedgerow(*plan, "--config", "examples/resource-manager.yaml") == hedgerow(*plan)
