"""No command prints what Secrets hold, in whatever way and wherever in an object they do."""

import base64
from typing import Final

import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from tests.e2e.canaries import Canaries
from tests.unit.confidential_objects import MALFORMED, PLACES, Json, Place, confidential_objects
from tests.unit.entrypoints.command_line import NAMESPACE, Hedgerow

FEW_EXAMPLES: Final = settings(
    max_examples=15,
    deadline=None,
    # The fixture replaces standard input for each call.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
DEFINITION: Final = yaml.safe_load("""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bundles.example.org}
spec:
  group: example.org
  names: {kind: Bundle, plural: bundles}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, \
x-kubernetes-preserve-unknown-fields: true}}}]
""")
MANAGED_RESOURCE: Final = {
    "apiVersion": "resources.gardener.cloud/v1alpha1",
    "kind": "ManagedResource",
    "metadata": {"name": "cart", "namespace": "shop", "generation": 1},
    "spec": {"secretRefs": [{"name": "cart"}]},
}


def in_shop(manifest: Json) -> Json:
    if manifest["kind"] == "List":
        return {**manifest, "items": [in_shop(each) for each in manifest["items"]]}
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": "shop"}}


def delivery_of(manifest: Json) -> Json:
    text = yaml.safe_dump(in_shop(manifest))
    data = {"objects.yaml": base64.b64encode(text.encode()).decode()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "cart", "namespace": "shop"}, "data": data}


def files_of(*manifests: Json) -> str:
    return NAMESPACE + yaml.safe_dump_all([DEFINITION, *manifests])


@pytest.mark.parametrize("places", [PLACES, PLACES | MALFORMED], ids=["well-formed", "malformed"])
@pytest.mark.parametrize(
    "arguments",
    [
        *[("plan", "managedresource", "-o", output) for output in ("diff", "table", "yaml", "json")],
        *[("simulate", "managedresource", "--all", "-o", output) for output in ("yaml", "json")],
        *[("simulate", "managedresource", "--for", "3m", "-o", output) for output in ("timeline", "json")],
        *[("health", "-o", output) for output in ("table", "json")],
    ],
    ids=" ".join,
)
def test_no_command_prints_what_a_delivered_secret_holds(
    arguments: tuple[str, ...], places: dict[str, Place], hedgerow: Hedgerow
) -> None:
    @FEW_EXAMPLES
    @given(confidential_objects(places, are_typed=True))
    def check(objects: tuple[Json, Json, Canaries]) -> None:
        before, after, canaries = objects
        ended = hedgerow(*arguments, "-f", "-", stdin=files_of(MANAGED_RESOURCE, delivery_of(after), in_shop(before)))
        assert canaries.seen_in([ended.out, ended.err]) == set()

    check()


@pytest.mark.parametrize("output", ["diff", "table", "yaml", "json"])
def test_no_review_prints_what_a_secret_holds(output: str, hedgerow: Hedgerow) -> None:
    @FEW_EXAMPLES
    @given(confidential_objects(PLACES | MALFORMED, are_typed=True))
    def check(objects: tuple[Json, Json, Canaries]) -> None:
        _, after, canaries = objects
        ended = hedgerow("review", "--all", "-o", output, "-f", "-", stdin=files_of(in_shop(after)))
        assert canaries.seen_in([ended.out, ended.err]) == set()

    check()


@pytest.mark.parametrize(
    "text",
    [
        "stringData: {password: *canary}",
        "stringData: {password: !canary x}",
        "stringData: {password: !!int canary}",
        "stringData: {password: 'canary",
        "stringData: {password: canary: canary}",
        "data: {password: canary!}",
        "data: canary",
        "stringData: {password: 4242424242424242424242}",
    ],
)
@pytest.mark.parametrize("arguments", [("plan", "secret"), ("simulate", "secret"), ("review", "--all"), ("health",)])
def test_a_file_that_cannot_be_read_is_not_quoted(arguments: tuple[str, ...], text: str, hedgerow: Hedgerow) -> None:
    secret = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: payment, namespace: shop}}\n{text}\n"

    ended = hedgerow(*arguments, "-f", "-", stdin=NAMESPACE + secret)

    assert not [each for each in ("canary", "4242") if each in ended.out + ended.err]
