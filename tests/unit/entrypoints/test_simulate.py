import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from hedgerow.api.kubernetes import SECRETS
from hedgerow.machinery.controller import Controller, Watch
from hedgerow.machinery.objects import key_of
from hedgerow.machinery.plan import Plan
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.protocol import requests
from hedgerow_entrypoints.cli.controllers import NAMES
from hedgerow_entrypoints.cli.simulate import everything_read
from tests.unit.entrypoints.command_line import (
    BROKEN,
    CART,
    DOMAIN,
    EDITED_AND_LEFT_OVER,
    NAMESPACE,
    RESTRICTED_TO_SHOP,
    SELECTORS,
    SHOP_BESIDE_A_TILL,
    Hedgerow,
)

SIMULATE = ("simulate", "networkpolicy")
MANAGED_RESOURCES = "examples/managed-resources"
CHOICES = ",\n\t".join(NAMES)


def names(objects: list[dict[str, Any]]) -> list[str]:
    return [f"{each['kind']} {each['metadata']['name']}" for each in objects]


def test_what_the_controllers_own_in_the_end_is_printed(hedgerow: Hedgerow) -> None:
    ended = hedgerow(*SIMULATE, "-f", "-", stdin=NAMESPACE + CART + EDITED_AND_LEFT_OVER)
    objects = list(yaml.safe_load_all(ended.out))

    assert (ended.code, ended.err) == (0, "1 created, 1 changed, 1 deleted\n")
    assert names(objects) == ["NetworkPolicy egress-to-cart-tcp-8080", "NetworkPolicy ingress-to-cart-tcp-8080"]
    assert objects[1]["metadata"].keys() == {"name", "namespace", "labels", "annotations"}
    assert objects[1]["metadata"]["labels"] == {
        f"{DOMAIN}/service-name": "cart",
        f"{DOMAIN}/service-namespace": "shop",
        "team": "a",
    }
    assert objects[1]["spec"]["ingress"][0]["ports"] == [{"protocol": "TCP", "port": 8080}]


def test_the_objects_that_were_read_are_printed_on_demand(hedgerow: Hedgerow) -> None:
    ended = hedgerow(*SIMULATE, "-f", "-", "--all", "-o", "json", stdin=NAMESPACE + CART)

    assert names(json.loads(ended.out)["items"]) == [
        "Service cart",
        "NetworkPolicy egress-to-cart-tcp-8080",
        "NetworkPolicy ingress-to-cart-tcp-8080",
        "Namespace default",
        "Namespace kube-node-lease",
        "Namespace kube-public",
        "Namespace kube-system",
        "Namespace shop",
    ]


def test_the_configuration_decides_which_namespaces_are_seen(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "config.yaml").write_text(RESTRICTED_TO_SHOP)

    ended = hedgerow(*SIMULATE, "-f", "-", "--config", "config.yaml", stdin=SHOP_BESIDE_A_TILL)

    assert (ended.code, ended.err) == (0, "2 created\n")
    assert names(list(yaml.safe_load_all(ended.out))) == [
        "NetworkPolicy egress-to-cart-tcp-8080",
        "NetworkPolicy ingress-to-cart-tcp-8080",
    ]


@pytest.mark.parametrize(
    ("output", "text"), [("yaml", ""), ("json", '{\n  "apiVersion": "v1",\n  "kind": "List",\n  "items": []\n}\n')]
)
def test_without_objects_there_is_nothing_to_do(output: str, text: str, hedgerow: Hedgerow) -> None:
    assert hedgerow(*SIMULATE, "-f", "-", "-o", output) == (0, text, "nothing to do\n")


def test_an_object_that_cannot_be_dealt_with_does_not_stop_the_others(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "shop.yaml").write_text(NAMESPACE + CART + BROKEN)

    ended = hedgerow(*SIMULATE, "-f", "shop.yaml")

    assert len(list(yaml.safe_load_all(ended.out))) == 2
    assert (ended.code, ended.err) == (
        1,
        (
            f"error: shop.yaml:3: Service shop/broken: metadata.annotations[{SELECTORS}]: is not valid JSON\n"
            "2 created, 1 error\n"
        ),
    )


def test_what_cannot_be_read_is_said_in_a_sentence(hedgerow: Hedgerow, folder: Path) -> None:
    assert hedgerow(*SIMULATE, "-f", "x.yaml") == (1, "", "error: x.yaml: does not exist\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("networkpolicy",), "Missing option '-f' / '--filename'."),
        (("-f", "-"), f"Missing argument 'CONTROLLER...'. Choose from:\n\t{CHOICES}"),
        (
            ("networkpolicy", "-f", "-", "-o", "diff"),
            "Invalid value for '-o' / '--output': 'diff' is not one of 'yaml', 'json', 'timeline'.",
        ),
        (
            ("networkpolicy", "--kubeconfig", "x"),
            "No such option '--kubeconfig'. (Did you mean one of: '--config', '--kube-version'?)",
        ),
    ],
    ids=["no-source", "no-controller", "format", "kubeconfig"],
)
def test_wrong_usage_is_an_error(arguments: tuple[str, ...], sentence: str, hedgerow: Hedgerow) -> None:
    assert hedgerow("simulate", *arguments) == (
        1,
        "",
        f"error: {sentence}\nTry 'hedgerow simulate --help' for help.\n",
    )


@pytest.mark.usefixtures("repository")
def test_what_managed_resources_leave_behind_needs_no_further_plan(hedgerow: Hedgerow) -> None:
    settled = hedgerow("simulate", "managedresource", "secret", "-f", MANAGED_RESOURCES, "--all", "--show-secrets")

    assert settled.code == 0
    assert hedgerow("plan", "managedresource", "secret", "-f", "-", stdin=settled.out) == (0, "", "nothing to do\n")


@pytest.mark.usefixtures("repository")
def test_of_managed_resources_everything_is_printed_that_was_written(hedgerow: Hedgerow) -> None:
    ended = hedgerow("simulate", "managedresource", "-f", MANAGED_RESOURCES)

    written = [f"{each['kind']} {each['metadata']['name']}" for each in yaml.safe_load_all(ended.out)]
    assert sorted(written) == [
        "ConfigMap settings",
        "Deployment storefront",
        "ManagedResource storefront",
        "Secret payment",
        "Service storefront",
    ]


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("more", [(), ("--all",)])
def test_values_of_secrets_are_printed_only_on_demand(more: tuple[str, ...], hedgerow: Hedgerow) -> None:
    hidden, shown = (
        hedgerow("simulate", "managedresource", "-f", MANAGED_RESOURCES, *more, *option)
        for option in ((), ("--show-secrets",))
    )

    values = [
        value for each in yaml.safe_load_all(shown.out) if each["kind"] == "Secret" for value in each["data"].values()
    ]
    assert values
    assert not [value for value in values if value in hidden.out]
    assert "(redacted)" in hidden.out


LEFT_TO_BE_DELETED = """
apiVersion: resources.gardener.cloud/v1alpha1
kind: ManagedResource
metadata: {name: shop, namespace: shop, finalizers: [resources.gardener.cloud/gardener-resource-manager]}
spec: {secretRefs: []}
status:
  resources: [{apiVersion: apps/v1, kind: Deployment, name: till, namespace: shop}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: till, namespace: shop, annotations: {resources.gardener.cloud/origin: shop/shop}}
spec:
  selector: {matchLabels: {app: till}}
  template:
    metadata: {labels: {app: till}}
    spec: {containers: [{name: till, image: till}]}
"""


def test_what_is_deleted_in_the_foreground_goes_although_nobody_collects_garbage(hedgerow: Hedgerow) -> None:
    ended = hedgerow("simulate", "managedresource", "-f", "-", stdin=LEFT_TO_BE_DELETED)

    assert names(list(yaml.safe_load_all(ended.out))) == ["ManagedResource shop"]
    assert ended.code == 0


def test_many_deletions_are_carried_out_as_nothing_is_lost_by_them(hedgerow: Hedgerow) -> None:
    left_over = EDITED_AND_LEFT_OVER.split("---\n")[1]
    policies = [left_over.replace("tcp-1", f"tcp-{number}") for number in range(1, 41)]

    ended = hedgerow(*SIMULATE, "-f", "-", stdin="---\n".join([NAMESPACE, *policies]))

    assert (ended.code, ended.out, ended.err) == (0, "", "40 deleted\n")


@pytest.mark.parametrize(("seen", "shown"), [((), ["shop"]), (("default", "shop"), ["shop"]), (("default",), [])])
def test_of_a_watch_within_a_namespace_nothing_else_is_read(seen: tuple[str, ...], shown: list[str]) -> None:
    cluster = InMemoryCluster(namespaces=("default", "shop"))
    for namespace in ("default", "shop"):
        cluster.handle(requests.create(SECRETS, {"metadata": {"name": "till"}}, namespace))
    watch = Watch(SECRETS, dict, lambda manifest, _snapshot: (key_of(manifest),), namespace="shop")
    watching = Controller("watching", SECRETS, (watch,), 1, None, lambda _key, _snapshot, _context: Plan())

    assert [key_of(each).namespace for each in everything_read(cluster, [watching], seen)] == shown
