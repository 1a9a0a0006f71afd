import importlib.util
import io
from types import ModuleType
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.files import writing
from hedgerow_adapters.files.loading import load_manifests
from hedgerow_adapters.files.writing import render_json, render_yaml

TEXTS = st.text(st.characters(codec="utf-8")) | st.sampled_from(
    [
        "",
        " ",
        "y",
        "08",
        "1e3",
        "0o17",
        "=",
        "<<",
        "2026-01-31",
        "1:30",
        "~",
        "a: b",
        "# a",
        "- a",
        "\ta",
        "a\n",
        "\n a",
        "a \nb",
    ]
)
SCALARS = (
    TEXTS
    | st.none()
    | st.booleans()
    | st.integers(min_value=-(2**63), max_value=2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS, lambda values: st.lists(values, max_size=3) | st.dictionaries(TEXTS, values, max_size=3), max_leaves=8
)


@st.composite
def objects(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Objects of a kind of no known scope, with distinct names and anything in them."""
    names = draw(st.lists(TEXTS.filter(bool), unique=True, max_size=3))
    return [
        {
            **draw(st.dictionaries(TEXTS, VALUES, max_size=3)),
            "kind": "Widget",
            "metadata": {"name": name, "annotations": draw(st.dictionaries(TEXTS, TEXTS, max_size=3))},
            "apiVersion": "example.org/v1",
        }
        for name in names
    ]


def loaded(text: str) -> list[Manifest]:
    return [each.manifest for each in load_manifests(["-"], stdin=io.BytesIO(text.encode())).unwrap()]


@pytest.fixture(scope="module", params=["compiled writer", "pure Python writer"])
def module(request: pytest.FixtureRequest) -> ModuleType:
    if request.param == "compiled writer":
        return writing
    specification = importlib.util.spec_from_file_location("writing_without_libyaml", writing.__file__)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(yaml, "CSafeDumper")
        specification.loader.exec_module(module)
    return module


@settings(deadline=None)
@given(objects=objects())
def test_what_is_written_as_yaml_reads_as_the_same_objects(module: ModuleType, objects: list[dict[str, Any]]) -> None:
    assert loaded(module.render_yaml(objects)) == objects


@settings(deadline=None)
@given(objects=objects())
def test_what_is_written_as_json_reads_as_the_same_objects(objects: list[dict[str, Any]]) -> None:
    assert loaded(render_json(objects)) == objects


POLICY = {
    "status": {},
    "spec": {"b": [1, {"c": "no"}], "a": None},
    "metadata": {
        "uid": "1",
        "annotations": {"text": "two\nlines\n", "list": '[{"port":80}]', "long": "word " * 40 + "end"},
        "labels": {"version": "1e3", "on": "2026-01-31", "é": ""},
        "namespace": "shop",
        "name": "allow",
    },
    "extra": True,
    "kind": "NetworkPolicy",
    "apiVersion": "networking.k8s.io/v1",
}


def test_yaml_reads_top_down_and_quotes_what_could_be_mistaken() -> None:
    assert render_yaml([POLICY, {"kind": "Node", "apiVersion": "v1"}]) == (
        "apiVersion: networking.k8s.io/v1\n"
        "kind: NetworkPolicy\n"
        "metadata:\n"
        "  name: allow\n"
        "  namespace: shop\n"
        "  labels:\n"
        '    version: "1e3"\n'
        '    "on": "2026-01-31"\n'
        '    é: ""\n'
        "  annotations:\n"
        "    text: |\n"
        "      two\n"
        "      lines\n"
        "    list: '[{\"port\":80}]'\n"
        f"    long: {'word ' * 40}end\n"
        '  uid: "1"\n'
        "spec:\n"
        "  b:\n"
        "  - 1\n"
        '  - c: "no"\n'
        "  a: null\n"
        "status: {}\n"
        "extra: true\n"
        "---\n"
        "apiVersion: v1\n"
        "kind: Node\n"
    )


def test_json_is_one_list_in_the_same_order() -> None:
    assert render_json([{"metadata": {"labels": {"é": "ü"}, "name": "a"}, "kind": "Node", "apiVersion": "v1"}]) == (
        "{\n"
        '  "apiVersion": "v1",\n'
        '  "kind": "List",\n'
        '  "items": [\n'
        "    {\n"
        '      "apiVersion": "v1",\n'
        '      "kind": "Node",\n'
        '      "metadata": {\n'
        '        "name": "a",\n'
        '        "labels": {\n'
        '          "é": "ü"\n'
        "        }\n"
        "      }\n"
        "    }\n"
        "  ]\n"
        "}\n"
    )


def test_nothing_is_written_for_no_objects() -> None:
    assert render_yaml([]) == ""
    assert loaded(render_json([])) == []


def test_what_occurs_twice_is_written_twice() -> None:
    ports = [{"port": 80}]
    manifest = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "spec": {"a": ports, "b": ports}}

    text = render_yaml([manifest, manifest])

    assert "&" not in text
    assert text.count("- port: 80\n") == 4
