"""Charts, harmless and hostile, rendered by the real Helm."""

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hedgerow.machinery.charts import RenderChart, RenderedChart, RenderedFile, RenderError
from hedgerow_adapters.charts import HelmCommand, helm
from hedgerow_adapters.charts.helm import rendered
from tests.e2e.servers.build import HELM, build
from tests.unit.adapters.charts.archived import archive, chart, member

NAMESPACE = "extension-os-coreos-abcde"
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, namespace: {{ .Release.Namespace }}}\n"


@pytest.fixture(scope="session")
def binary() -> str:
    return os.environ.get("HEDGEROW_HELM") or str(build(HELM) / "helm")


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where private folders are made, all of which are gone in the end."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not [*folder.iterdir()]


def asked(archived: bytes, release: str = "os-coreos", **values: Any) -> RenderChart:
    return RenderChart(archived, release, NAMESPACE, values, "v1.29.4")


def run(binary: str, asked_for: RenderChart, timeout: float = 60.0) -> RenderedChart:
    return rendered(HelmCommand(binary, timeout), asked_for, threading.Event())


def of_template(binary: str, text: str, **values: Any) -> RenderedChart:
    return run(binary, asked(chart({"config.yaml": text}), **values))


def objects(binary: str, text: str, **values: Any) -> tuple[Mapping[str, Any], ...]:
    found = of_template(binary, text, **values)
    assert isinstance(found, tuple), found
    return tuple(each for file in found for each in file.objects)


def data(binary: str, text: str, **values: Any) -> Any:
    (config_map,) = objects(binary, f"{CONFIG_MAP}data:\n{text}", **values)
    return config_map["data"]


def test_a_chart_sees_its_release_its_values_and_what_the_cluster_serves(binary: str) -> None:
    text = """  release: {{ list .Release.Name .Release.Namespace .Release.IsInstall .Release.Revision | join " " }}
  seed: {{ .Values.gardener.seed | quote }}
  version: {{ .Capabilities.KubeVersion.Version }}
  apis: {{ list (.Capabilities.APIVersions.Has "apps/v1") (.Capabilities.APIVersions.Has "example.com/v1") | toJson }}
"""
    archived = chart({"config.yaml": f"{CONFIG_MAP}data:\n{text}"})
    values = {"gardener": {"seed": "aws"}}
    asked_for = RenderChart(archived, "os-coreos", NAMESPACE, values, "v1.29.4", ("example.com/v1",))

    found = run(binary, asked_for)

    assert isinstance(found, tuple), found
    assert found[0].objects[0]["data"] == {
        "release": f"os-coreos {NAMESPACE} true 1",
        "seed": "aws",
        "version": "v1.29.4",
        "apis": [True, True],
    }


@pytest.mark.parametrize("archived", [b"", b"no archive"], ids=["absent", "no archive"])
def test_what_is_no_chart_is_an_error_of_the_chart(binary: str, archived: bytes) -> None:
    error = run(binary, asked(archived))

    assert isinstance(error, RenderError)
    assert error.cause == "chart"


def test_the_error_of_a_template_names_no_temporary_path(binary: str, folders: Path) -> None:
    error = of_template(binary, '{{ fail "x" }}')

    assert error == RenderError("chart", "execution error at (test/templates/config.yaml:1:3): x")


def test_three_documents_of_which_one_is_empty_are_two_objects(binary: str) -> None:
    found = of_template(binary, f"{CONFIG_MAP}---\n# nothing\n---\n{CONFIG_MAP.replace('config', 'other')}")

    assert isinstance(found, tuple), found
    assert [file.path for file in found] == ["test/templates/config.yaml"]
    assert [each["metadata"]["name"] for each in found[0].objects] == ["config", "other"]


def test_a_chart_may_render_nothing(binary: str) -> None:
    assert of_template(binary, "{{ if false }}a: b{{ end }}\n") == ()


def test_a_release_name_of_more_than_53_characters_is_an_error_of_the_chart(binary: str) -> None:
    error = run(binary, asked(chart({"config.yaml": CONFIG_MAP}), "a" * 60))

    assert isinstance(error, RenderError)
    assert error.cause == "chart"
    assert "53" in error.message


def test_a_release_name_is_no_option(binary: str) -> None:
    error = run(binary, asked(chart({"config.yaml": CONFIG_MAP}), "--post-renderer=/bin/true"))

    assert isinstance(error, RenderError)
    assert "release name" in error.message


def test_scalars_mean_what_they_mean_to_kubernetes(binary: str) -> None:
    assert data(binary, "  a: 12:30\n  b: 2020-01-01\n  c: 1e3\n  d: y\n") == {
        "a": "12:30",
        "b": "2020-01-01",
        "c": 1000,
        "d": True,
    }


def test_hooks_are_objects_tests_are_not_and_definitions_beside_the_templates_are_left_out(binary: str) -> None:
    def hook(name: str) -> str:
        return CONFIG_MAP.replace("{name: config", f"{{annotations: {{helm.sh/hook: {name}}}, name: {name}")

    archived = chart(
        {"a.yaml": hook("pre-install"), "b.yaml": hook("test"), "NOTES.txt": "x", "_c.yaml": "{{ fail 1 }}"},
        **{"crds/d.yaml": CONFIG_MAP, "values.yaml": "a: 1\n"},
    )

    found = run(binary, asked(archived))

    assert isinstance(found, tuple), found
    assert [file.path for file in found] == ["test/templates/a.yaml"]


def test_templates_of_subcharts_have_paths_of_their_own(binary: str) -> None:
    files = {
        "test/Chart.yaml": "apiVersion: v2\nname: test\nversion: 1.0.0\ndependencies: [{name: sub, version: 1.0.0}]\n",
        "test/charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
        "test/charts/sub/templates/x.yaml": CONFIG_MAP,
    }
    whole = archive((member(name, text.encode()), text.encode()) for name, text in files.items())
    lacking = archive([(member("test/Chart.yaml", each), each) for each in [files["test/Chart.yaml"].encode()]])

    found, error = run(binary, asked(whole)), run(binary, asked(lacking))

    assert isinstance(found, tuple), found
    assert [file.path for file in found] == ["test/charts/sub/templates/x.yaml"]
    assert isinstance(error, RenderError)
    assert (error.cause, "sub" in error.message) == ("chart", True)


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"values.schema.json": '{"required": ["port"]}'}, "port"),
        ({"Chart.yaml": "apiVersion: v2\nname: test\nversion: 1.0.0\nkubeVersion: '>= 1.30'\n"}, "v1.29.4"),
    ],
    ids=["schema", "version"],
)
def test_what_a_chart_demands_is_enforced(binary: str, others: Mapping[str, str], words: str) -> None:
    error = run(binary, asked(chart({"config.yaml": CONFIG_MAP}, **others)))

    assert isinstance(error, RenderError)
    assert (error.cause, words in error.message) == ("chart", True)


def test_a_chart_reaches_neither_a_cluster_nor_a_name_server(binary: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nonexistent")
    text = '  a: {{ lookup "v1" "Namespace" "" "default" | len }}\n  b: {{ getHostByName "localhost" | quote }}\n'

    assert data(binary, text) == {"a": 0, "b": ""}


def test_a_chart_with_random_names_is_rendered(binary: str) -> None:
    text = CONFIG_MAP.replace("config,", "{{ randAlpha 8 | lower }}, annotations: {at: {{ now | quote }}},")

    first, second = objects(binary, text), objects(binary, text)

    assert len(first) == len(second) == 1
    assert first != second


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("{{ range until 100000000 }}{{ . }}{{ end }}", "needs more than 512 MiB", id="takes memory"),
        pytest.param(f"{CONFIG_MAP}data: {{a: {{{{ repeat 6000000 `x` }}}}}}", "file too large", id="large file"),
        pytest.param(f"{CONFIG_MAP}data: {{a: {{{{ repeat 100000000 `x` }}}}}}", "", id="100 MB"),
        pytest.param('{{- define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}', "nested", id="recursion"),
        pytest.param("a: " + "[" * 200 + "]" * 200, "100 levels", id="deep output"),
        pytest.param("- a", "cannot unmarshal", id="list"),
        pytest.param("a: &a [*a]", "", id="cycle"),
        pytest.param("a: {", "YAML", id="broken"),
        pytest.param("a: {{ .Values.a.b.c.d }}", "nil pointer", id="missing value"),
    ],
)
def test_hostile_templates_are_errors_of_the_chart(binary: str, folders: Path, text: str, words: str) -> None:
    error = of_template(binary, text)

    assert isinstance(error, RenderError)
    assert error.cause == "chart"
    assert words in error.message
    assert str(folders) not in error.message
    assert len(error.message) < 2_100


def test_values_may_be_nested_deeply_and_too_deeply(binary: str) -> None:
    def nested(levels: int) -> Any:
        value: Any = "x"
        for _ in range(levels):
            value = {"a": value}
        return value

    assert data(binary, "  a: {{ .Values.v | toJson | len }}\n", v=nested(300)) == {"a": 300 * 6 + 3}


def test_a_chart_that_does_not_end_is_killed_at_the_limit(binary: str) -> None:
    thousands = "{{ range until 10000 }}"
    loop = chart({"a.yaml": f"{thousands}{thousands}{thousands}{'{{ end }}' * 3}"})
    began = time.monotonic()

    error = run(binary, asked(loop), timeout=1.0)

    assert error == RenderError("timeout", "helm has not ended within 1 s")
    assert time.monotonic() - began < 10


def test_a_helm_that_somebody_kills_is_unavailable(binary: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listen = helm._said

    def kill(process: subprocess.Popen[bytes], deadline: float, stop: threading.Event) -> bytes | None:
        process.kill()
        return listen(process, deadline, stop)

    monkeypatch.setattr(helm, "_said", kill)

    assert of_template(binary, CONFIG_MAP) == RenderError("unavailable", "helm was killed by signal 9")


def test_a_large_chart_is_rendered_within_the_limits(binary: str) -> None:
    templates = {f"{number}.yaml": CONFIG_MAP.replace("config,", f"c{number},") for number in range(500)}
    archived = chart(templates, **{f"files/{number}": "x" * 1_000_000 for number in range(40)})

    found = run(binary, asked(archived))

    assert isinstance(found, tuple), found
    assert len(found) == 500


def test_the_rendering_is_the_same_each_time(binary: str) -> None:
    text = f"{CONFIG_MAP}data:\n{{{{ range $k, $v := .Values.m }}}}\n  {{{{ $k }}}}: {{{{ $v }}}}\n{{{{ end }}}}"
    values = {"m": {f"k{number}": number for number in range(50)}}

    assert (
        of_template(binary, text, **values)
        == of_template(binary, text, **values)
        == (RenderedFile("test/templates/config.yaml", objects(binary, text, **values)),)
    )
