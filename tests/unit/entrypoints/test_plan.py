import json
from pathlib import Path

import pytest
import yaml

from tests.unit.entrypoints.command_line import (
    BROKEN,
    CART,
    CART_TABLE,
    DOMAIN,
    EDITED_AND_LEFT_OVER,
    NAMESPACE,
    RESTRICTED_TO_SHOP,
    SELECTORS,
    SHOP_BESIDE_A_TILL,
    Hedgerow,
)

PLAN = ("plan", "networkpolicy")


# What is planned for, and what not.


def test_an_object_that_cannot_be_planned_for_does_not_stop_the_others(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "shop.yaml").write_text(NAMESPACE + CART + BROKEN)

    assert hedgerow(*PLAN, "-f", "shop.yaml", "-o", "table") == (
        1,
        CART_TABLE,
        (
            f"error: shop.yaml:3: Service shop/broken: metadata.annotations[{SELECTORS}]: is not valid JSON\n"
            "2 to create, 1 error\n"
        ),
    )


def test_an_object_that_two_owners_ask_for_is_an_error(hedgerow: Hedgerow) -> None:
    named = CART.replace("targetPort: 8080", "targetPort: b-tcp-8080")
    other = CART.replace("cart", "cart-tcp-b")

    ended = hedgerow(*PLAN, "-f", "-", "-o", "json", stdin=NAMESPACE + named + other)

    problem = "Service shop/cart asks for a policy of this name as well, and keeps it"
    contested = [f"{half}-to-cart-tcp-b-tcp-8080" for half in ("egress", "ingress")]
    assert (ended.code, ended.err) == (
        1,
        "".join(f"error: NetworkPolicy shop/{name}: metadata.name: {problem}\n" for name in contested)
        + "2 to create, 2 errors\n",
    )
    assert [(failure["name"], failure["field"]) for failure in json.loads(ended.out)["failures"]] == [
        (name, "metadata.name") for name in contested
    ]


def test_a_plan_that_deletes_a_suspicious_share_is_warned_of(hedgerow: Hedgerow) -> None:
    left_over = EDITED_AND_LEFT_OVER.split("---\n")[1]
    policies = [left_over.replace("tcp-1", f"tcp-{number}") for number in range(1, 22)]

    ended = hedgerow(*PLAN, "-f", "-", "-o", "table", stdin="---\n".join([NAMESPACE, *policies]))

    assert (ended.code, ended.err) == (
        2,
        (
            "warning: networkpolicy would delete 21 of the 21 objects that it owns; "
            "one that starts here refuses to delete so many\n21 to delete\n"
        ),
    )


def test_a_plan_that_deletes_a_large_share_is_warned_of_as_well(hedgerow: Hedgerow) -> None:
    left_over = EDITED_AND_LEFT_OVER.split("---\n")[1]
    policies = [left_over.replace("tcp-1", f"tcp-{number}") for number in range(1, 22)]
    till = CART.replace("cart", "till")
    settled = hedgerow("simulate", "networkpolicy", "-f", "-", "--all", stdin=NAMESPACE + CART + till).out

    ended = hedgerow(*PLAN, "-f", "-", "-o", "table", stdin="---\n".join([settled, *policies]))

    assert ended.err == (
        "warning: networkpolicy would delete 21 of the 25 objects that it owns; "
        "one that starts here wants a second, fresh list first\n21 to delete\n"
    )


def test_the_policies_of_a_service_that_goes_are_nothing_to_warn_of(hedgerow: Hedgerow) -> None:
    left_over = EDITED_AND_LEFT_OVER.split("---\n")[1].replace("service-name: gone", "service-name: cart")
    policies = [left_over.replace("tcp-1", f"tcp-{number}") for number in range(1, 22)]
    going = CART.replace("namespace: shop", "namespace: shop, deletionTimestamp: 2026-01-01T00:00:00Z")

    ended = hedgerow(*PLAN, "-f", "-", "-o", "table", stdin="---\n".join([NAMESPACE + going, *policies]))

    assert ended.err == "21 to delete\n"


def test_the_configuration_decides_which_namespaces_are_handled(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "config.yaml").write_text(
        "apiVersion: resourcemanager.config.gardener.cloud/v1alpha1\nkind: ResourceManagerConfiguration\n"
        "controllers: {networkPolicy: {namespaceSelectors: [{matchLabels: {team: a}}]}}\nshopping: true\n"
    )

    assert hedgerow(*PLAN, "-f", "-", "--config", "config.yaml", stdin=NAMESPACE + CART) == (
        0,
        "",
        "warning: config.yaml: shopping: unknown field, ignored\nnothing to do\n",
    )


def test_the_configuration_decides_which_namespaces_are_seen(hedgerow: Hedgerow, folder: Path) -> None:
    """The cart asks for peers everywhere; the till, and what it has left in the shop, are out of sight."""
    (folder / "config.yaml").write_text(RESTRICTED_TO_SHOP)

    ended = hedgerow(*PLAN, "-f", "-", "-o", "table", "--config", "config.yaml", stdin=SHOP_BESIDE_A_TILL)

    assert ended == (2, CART_TABLE, "2 to create\n")


# How it is shown.


def test_a_diff_shows_creation_change_and_deletion(hedgerow: Hedgerow) -> None:
    ended = hedgerow(*PLAN, "-f", "-", stdin=NAMESPACE + CART + EDITED_AND_LEFT_OVER)

    assert (ended.code, ended.err) == (2, "1 to create, 1 to change, 1 to delete\n")
    created, changed, deleted = ended.out.split("# ")[1:]
    assert created.startswith(
        "create NetworkPolicy shop/egress-to-cart-tcp-8080 (service-port)\n"
        "--- /dev/null\n"
        "+++ NetworkPolicy shop/egress-to-cart-tcp-8080\n"
        "@@ -0,0 +1,24 @@\n"
        "+apiVersion: networking.k8s.io/v1\n"
    )
    assert changed == (
        "change NetworkPolicy shop/ingress-to-cart-tcp-8080 (service-port)\n"
        "--- live NetworkPolicy shop/ingress-to-cart-tcp-8080\n"
        "+++ NetworkPolicy shop/ingress-to-cart-tcp-8080\n"
        "@@ -15,4 +15,10 @@\n"
        "   policyTypes:\n"
        "   - Ingress\n"
        "   ingress:\n"
        "-  - {}\n"
        "+  - from:\n"
        "+    - podSelector:\n"
        "+        matchLabels:\n"
        f"+          {DOMAIN}/to-cart-tcp-8080: allowed\n"
        "+    ports:\n"
        "+    - protocol: TCP\n"
        "+      port: 8080\n"
    )
    assert deleted == (
        "delete NetworkPolicy shop/ingress-to-gone-tcp-1 (service-gone)\n"
        "--- live NetworkPolicy shop/ingress-to-gone-tcp-1\n"
        "+++ /dev/null\n"
        "@@ -1,12 +0,0 @@\n"
        "-apiVersion: networking.k8s.io/v1\n"
        "-kind: NetworkPolicy\n"
        "-metadata:\n"
        "-  name: ingress-to-gone-tcp-1\n"
        "-  namespace: shop\n"
        "-  labels:\n"
        f"-    {DOMAIN}/service-name: gone\n"
        f"-    {DOMAIN}/service-namespace: shop\n"
        "-spec:\n"
        "-  podSelector: {}\n"
        "-  policyTypes:\n"
        "-  - Ingress\n"
    )


def test_a_table_has_a_line_per_action(hedgerow: Hedgerow) -> None:
    ended = hedgerow(*PLAN, "-f", "-", "-o", "table", stdin=NAMESPACE + CART + EDITED_AND_LEFT_OVER)

    assert ended.out == (
        "ACTION    KIND           NAMESPACE    NAME                      REASON\n"
        "create    NetworkPolicy  shop         egress-to-cart-tcp-8080   service-port\n"
        "change    NetworkPolicy  shop         ingress-to-cart-tcp-8080  service-port\n"
        "delete    NetworkPolicy  shop         ingress-to-gone-tcp-1     service-gone\n"
    )


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_programs_get_actions_and_failures(output: str, hedgerow: Hedgerow) -> None:
    ended = hedgerow(*PLAN, "-f", "-", "-o", output, stdin=NAMESPACE + CART + BROKEN + EDITED_AND_LEFT_OVER)
    document = json.loads(ended.out) if output == "json" else yaml.safe_load(ended.out)
    created, changed, deleted = document["actions"]

    assert created.pop("object")["metadata"]["name"] == created["name"] == "egress-to-cart-tcp-8080"
    assert list(changed.pop("patch")) == ["spec"]
    assert deleted == {
        "action": "delete",
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "namespace": "shop",
        "name": "ingress-to-gone-tcp-1",
        "reason": "service-gone",
        "controller": "networkpolicy",
    }
    assert created.keys() == changed.keys() == deleted.keys()
    assert document["failures"] == [
        {
            "kind": "Service",
            "namespace": "shop",
            "name": "broken",
            "field": f"metadata.annotations[{SELECTORS}]",
            "problem": "is not valid JSON",
        }
    ]


# Controllers that read more than they watch.


@pytest.mark.usefixtures("repository")
def test_the_example_of_a_managed_resource_shows_creation_change_and_deletion(hedgerow: Hedgerow) -> None:
    assert hedgerow("plan", "managedresource", "-f", "examples/managed-resources", "-o", "table") == (
        2,
        (
            "ACTION    KIND             NAMESPACE    NAME        REASON\n"
            "delete    ConfigMap        shop         banner      no-longer-listed\n"
            "change    Secret           shop         payment     differs\n"
            "change    ConfigMap        shop         settings    differs\n"
            "create    Service          shop         storefront  missing\n"
            "change    Deployment       shop         storefront  differs\n"
            "change    ManagedResource  shop         storefront  resources-changed, deletion-pending, applied\n"
        ),
        "1 to create, 4 to change, 1 to delete\n",
    )


@pytest.mark.usefixtures("repository")
def test_each_controller_plans_for_the_objects_as_the_files_hold_them(hedgerow: Hedgerow) -> None:
    """What one would write is not what the next one reads, and that both write one status is no dispute."""
    together = hedgerow("plan", "managedresource", "health", "-f", "examples/managed-resources", "-o", "json")
    alone = [
        hedgerow("plan", name, "-f", "examples/managed-resources", "-o", "json")
        for name in ("managedresource", "health")
    ]

    assert (together.code, together.err) == (2, "1 to create, 5 to change, 1 to delete\n")
    assert [each["reason"] for each in json.loads(together.out)["actions"]] == [
        each["reason"] for ended in alone for each in json.loads(ended.out)["actions"]
    ]


UNREFERENCED = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: unused
  namespace: shop
  creationTimestamp: 2026-01-01T00:00:00Z
  labels: {resources.gardener.cloud/garbage-collectable-reference: "true"}
"""


def test_garbage_is_recognised_by_the_age_that_files_tell(hedgerow: Hedgerow) -> None:
    old = hedgerow("plan", "garbage-collector", "-f", "-", "-o", "table", stdin=NAMESPACE + UNREFERENCED)
    new = hedgerow("plan", "garbage-collector", "-f", "-", stdin=NAMESPACE + UNREFERENCED.replace("2026", "2999"))

    assert (old.code, old.out.splitlines()[1].split()[:4]) == (2, ["delete", "ConfigMap", "shop", "unused"])
    assert (new.code, new.err) == (0, "nothing to do\n")


IDENTITY = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: cluster-identity, namespace: kube-system}
data: {cluster-identity: landscape-1}
---
"""
MANAGED = """\
apiVersion: resources.gardener.cloud/v1alpha1
kind: ManagedResource
metadata: {name: example, namespace: shop}
spec: {secretRefs: [{name: example}]}
---
apiVersion: v1
kind: Secret
metadata: {name: example, namespace: shop}
stringData:
  settings.yaml: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: settings}
---
"""


@pytest.mark.parametrize("name", ["plan", "simulate"])
def test_the_id_of_the_cluster_is_found_in_the_files_if_the_configuration_asks_for_it(
    name: str, hedgerow: Hedgerow, folder: Path
) -> None:
    (folder / "config.yaml").write_text(
        "apiVersion: resourcemanager.config.gardener.cloud/v1alpha1\nkind: ResourceManagerConfiguration\n"
        "controllers: {clusterID: <cluster>}\n"
    )
    command = (name, "managedresource", "-f", "-", "--config", "config.yaml")

    assert "origin: landscape-1:shop/example" in hedgerow(*command, stdin=NAMESPACE + IDENTITY + MANAGED).out
    assert hedgerow(*command, stdin=NAMESPACE + MANAGED) == (
        1,
        "",
        (
            "error: unable to determine cluster id: cannot determine cluster identity from configmap: "
            'configmaps "cluster-identity" not found\n'
        ),
    )


def test_values_of_secrets_that_no_server_would_take_are_not_repeated(hedgerow: Hedgerow) -> None:
    manifest = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\ndata: {password: hunter2!}\n"

    ended = hedgerow("plan", "managedresource", "-f", "-", stdin=NAMESPACE + manifest)

    assert (ended.code, ended.out) == (1, "")
    assert "illegal base64 data" in ended.err
    assert "hunter2" not in ended.err
