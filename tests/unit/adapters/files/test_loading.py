import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from returns.pipeline import is_successful

from hedgerow_adapters.files.loading import load_manifests
from hedgerow_adapters.files.sources import LoadedObject, Source

Load = Callable[..., Any]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Writes files by name into a folder and loads the given paths, by default all of it."""
    monkeypatch.chdir(tmp_path)

    def load_files(*paths: str, stdin: str = "", **files: str) -> Any:
        for name, text in files.items():
            Path(name.replace("__", ".")).write_text(text)
        return load_manifests(paths or (".",), stdin=io.BytesIO(stdin.encode()))

    return load_files


def manifest(name: str, namespace: str = "", *, kind: str = "Service", api_version: str = "v1") -> str:
    where = f", namespace: {namespace}" if namespace else ""
    return f"---\napiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}{where}}}\n"


def test_objects_come_in_the_order_of_the_paths_with_their_sources(load: Load) -> None:
    loaded = load(
        "b.yaml",
        "-",
        "a.json",
        stdin=manifest("c", "shop"),
        b__yaml=manifest("one", kind="Node") + manifest("a"),
        a__json="",
    )

    assert loaded.unwrap() == (
        LoadedObject({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "one"}}, Source("b.yaml", 1)),
        LoadedObject(
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "default"}},
            Source("b.yaml", 2),
            is_placed=True,
        ),
        LoadedObject(
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "c", "namespace": "shop"}}, Source("-", 1)
        ),
    )


def test_no_documents_are_no_objects(load: Load) -> None:
    assert load("-", stdin="# nothing\n---\n").unwrap() == ()
    assert load_manifests((), stdin=io.BytesIO()).unwrap() == ()


def test_all_problems_of_all_files_are_reported(load: Load) -> None:
    problems = load(
        "none.yaml",
        ".",
        a__yaml=manifest("a") + "---\na:\n\tb: 1\n" + "---\n- 1\n" + "---\nx: 1\nx: 2\ny: !z 3\n",
        b__json='{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod"}, 5]}',
        c__yml=manifest("a"),
    ).failure()

    assert [str(problem) for problem in problems] == [
        "none.yaml: does not exist",
        "a.yaml:2: line 7: tabs cannot indent YAML; use blanks",
        "a.yaml:3: expected an object, got a list",
        'a.yaml:4: line 12: the key "x" appears twice in one mapping',
        "a.yaml:4: line 13: a tag is not one that Kubernetes reads",
        "b.json:1: items[0]: a Pod without a name",
        "b.json:1: items[1]: expected an object, got an integer",
        "c.yml:1: Service default/a stands already in a.yaml:1",
    ]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(
            manifest("a", "default"),
            manifest("a"),
            ["<stdin>:2: Service default/a stands already in <stdin>:1"],
            id="same",
        ),
        pytest.param(
            manifest("a", kind="Ingress", api_version="networking.k8s.io/v1"),
            manifest("a", kind="Ingress", api_version="networking.k8s.io/v1beta1"),
            ["<stdin>:2: Ingress default/a stands already in <stdin>:1"],
            id="another version",
        ),
        pytest.param(
            manifest("a", "b", kind="Node"),
            manifest("a", "c", kind="Node"),
            ["<stdin>:2: Node a stands already in <stdin>:1"],
            id="cluster-scoped, whatever namespace it names",
        ),
        pytest.param(
            "apiVersion: v1\nkind: PodList\nitems:\n",
            "- metadata: {name: a}\n- metadata: {name: b}\n- metadata: {name: a}\n",
            ["<stdin>:1: items[2]: Pod default/a stands already in <stdin>:1 items[0]"],
            id="in one list",
        ),
        pytest.param(manifest("a"), manifest("b"), [], id="another name"),
        pytest.param(manifest("a"), manifest("a", "b"), [], id="another namespace"),
        pytest.param(manifest("a"), manifest("a", kind="Pod"), [], id="another kind"),
        pytest.param(
            manifest("a"), manifest("a", "default", api_version="serving.knative.dev/v1"), [], id="another group"
        ),
    ],
)
def test_an_object_stands_in_one_place(load: Load, first: str, second: str, expected: list[str]) -> None:
    loaded = load("-", stdin=first + second)

    assert [str(problem) for problem in loaded.swap().value_or(())] == expected


def test_what_is_sent_may_leave_its_name_to_the_server_and_goes_where_the_sender_is() -> None:
    """Two requests for names are two requests, and an AdmissionReview is no object with a name at all."""
    pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {generateName: web-}\n"
    review = "---\napiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest: {}\n"

    def load(text: str) -> Any:
        return load_manifests(["-"], stdin=io.BytesIO(text.encode()), namespace="shop", sent=True)

    assert [each.manifest.get("metadata") for each in load(pod + pod + review + review).unwrap()] == [
        *[{"generateName": "web-", "namespace": "shop"}] * 2,
        *[None] * 2,
    ]
    assert [str(problem) for problem in load(pod.replace("generateName", "labels") + manifest("a") * 2).failure()] == [
        "<stdin>:1: a Pod without a name",
        "<stdin>:1: metadata.labels: expected an object, got a string",
        "<stdin>:3: Service shop/a stands already in <stdin>:2",
    ]


def test_problems_show_what_a_terminal_would_obey(load: Load) -> None:
    (problem,) = load("-", stdin='{"apiVersion": "v1", "kind": "\\u001b[31m\\nPod", "metadata": {}}').failure()

    assert str(problem) == "<stdin>:1: a \\x1b[31m\\nPod without a name"


@settings(deadline=None)
@given(st.binary() | st.text(alphabet=st.sampled_from(" \t\n-:[]{}&*!|>'\"%@#,?<a1.~\\")).map(str.encode))
def test_whatever_is_given_is_read_or_refused_in_sentences(content: bytes) -> None:
    loaded = load_manifests(["-"], stdin=io.BytesIO(content))

    sentences = [] if is_successful(loaded) else [str(problem) for problem in loaded.failure()]
    assert all(sentence.startswith("<stdin>:") and sentence.isprintable() for sentence in sentences)
