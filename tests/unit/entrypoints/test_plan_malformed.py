"""Whatever stands in a file in the place of something else, the command says what is wrong or plans; it never falls."""

import json
from pathlib import Path

import pytest

from hedgerow.machinery.objects import key_of
from tests.contract.malformed import VALID, variants
from tests.unit.entrypoints.command_line import Hedgerow

CONFIGURATION = """\
apiVersion: resourcemanager.config.gardener.cloud/v1alpha1
kind: ResourceManagerConfiguration
controllers:
  networkPolicy:
    ingressControllerSelector: {namespace: shop, podSelector: {matchLabels: {app: nginx}}}
"""
PLAN = ("plan", "networkpolicy", "--config", "config.yaml", "-o", "table", "-f", "-")


def listed(**changed: object) -> str:
    """The valid objects, but for these, as a file."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [*{**VALID, **changed}.values()]})


@pytest.fixture(autouse=True)
def configuration(folder: Path) -> None:
    """Makes the controller read Ingresses as well."""
    (folder / "config.yaml").write_text(CONFIGURATION)


def test_the_valid_objects_are_planned_for(hedgerow: Hedgerow) -> None:
    ended = hedgerow(*PLAN, stdin=listed())

    assert ended.code == 2
    assert "ingress-backend" in ended.out


@pytest.mark.parametrize("kind", VALID)
def test_every_single_mistake_is_planned_around_or_said(kind: str, hedgerow: Hedgerow) -> None:
    for what, manifest in variants(VALID[kind]):
        ended = hedgerow(*PLAN, stdin=listed(**{kind: manifest}))

        assert ended.code in (0, 1, 2), what
        if ended.code == 1:
            field = what.partition(".")[0].partition(" ")[0]
            assert ended.err.startswith("error: <stdin>:1: ") or "\nerror: <stdin>:1: " in ended.err, what
            assert field in ended.err or field == "metadata", (what, ended.err)


@pytest.mark.parametrize(
    ("kind", "mistake", "problem"),
    [
        ("Ingress", "spec = []", "json: cannot unmarshal array into field spec of type object"),
        ("Ingress", "spec = 5", "json: cannot unmarshal number into field spec of type object"),
        (
            "Ingress",
            "spec.rules[0].http.paths[0].backend.service.name = [None]",
            "json: cannot unmarshal array into field spec.rules[0].http.paths[0].backend.service.name of type string",
        ),
        (
            "Ingress",
            "spec.rules[0].http.paths[1].backend.service.port.number = [None]",
            (
                "json: cannot unmarshal array into field spec.rules[0].http.paths[1].backend.service.port.number of "
                "type int32"
            ),
        ),
        ("Namespace", "spec = 5", "json: cannot unmarshal number into field spec of type object"),
        ("Service", "spec.selector.app = {}", "json: cannot unmarshal object into field spec.selector of type string"),
        ("NetworkPolicy", "spec.egress = 5", "json: cannot unmarshal number into field spec.egress of type list"),
    ],
    ids=lambda value: value.split(" ")[0],
)
def test_a_wrong_type_is_said_with_its_field(kind: str, mistake: str, problem: str, hedgerow: Hedgerow) -> None:
    ended = hedgerow(*PLAN, stdin=listed(**{kind: dict(variants(VALID[kind]))[mistake]}))

    version, key = VALID[kind]["apiVersion"].rpartition("/")[2], key_of(VALID[kind])
    assert ended == (
        1,
        "",
        f'error: <stdin>:1: {kind} {key}: {kind} in version "{version}" cannot be handled as a {kind}: {problem}\n',
    )


@pytest.mark.parametrize("name", ["deletionTimestamp", "creationTimestamp", "resourceVersion", "uid"])
def test_what_a_server_gave_an_object_is_a_text(name: str, hedgerow: Hedgerow) -> None:
    namespace = {**VALID["Namespace"], "metadata": {"name": "shop", name: 5}}

    ended = hedgerow(*PLAN, stdin=listed(Namespace=namespace))

    assert ended == (
        1,
        "",
        f"error: <stdin>:1: items[0]: metadata.{name}: expected a string, got an integer (quote it)\n",
    )
