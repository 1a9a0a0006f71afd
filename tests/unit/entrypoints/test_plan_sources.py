import json
from pathlib import Path

import pytest
import yaml

from tests.unit.entrypoints.command_line import (
    ALIAS_BOMB,
    CART,
    CART_TABLE,
    NAMESPACE,
    SELECTORS,
    Hedgerow,
)

PLAN = ("plan", "networkpolicy")
ASSUMED = "note: assuming that these namespaces exist, without further labels: shop\n"
CART_JSON = json.dumps(next(yaml.safe_load_all(CART)))


# What can be read.


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("manifests.yaml", NAMESPACE + CART),
        ("folder/below/manifests.yml", NAMESPACE + CART),
        ("cart.json", CART_JSON),
        ("list.json", f'{{"apiVersion": "v1", "kind": "List", "items": [{CART_JSON}]}}'),
        ("services.json", f'{{"apiVersion": "v1", "kind": "ServiceList", "items": [{CART_JSON}]}}'),
    ],
    ids=["yaml", "folder", "json", "list", "list-of-a-kind"],
)
def test_manifests_are_read_from_files_and_folders(name: str, text: str, hedgerow: Hedgerow, folder: Path) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)

    ended = hedgerow(*PLAN, "-f", name.partition("/")[0], "-o", "table")

    assert ended == (2, CART_TABLE, ("" if NAMESPACE in text else ASSUMED) + "2 to create\n")


def test_standard_input_is_read_beside_files(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "namespace.yaml").write_text(NAMESPACE)

    assert hedgerow(*PLAN, "-f", "-", "-f", "namespace.yaml", "-o", "table", stdin=CART).out == CART_TABLE


@pytest.mark.parametrize("text", ["", "# nothing\n---\n", '{"apiVersion": "v1", "kind": "List", "items": []}'])
def test_without_objects_there_is_nothing_to_do(text: str, hedgerow: Hedgerow) -> None:
    assert hedgerow(*PLAN, "-f", "-", stdin=text) == (0, "", "nothing to do\n")


def test_objects_that_no_controller_reads_do_not_matter(hedgerow: Hedgerow) -> None:
    manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: cart}\nspec: 1\n"

    assert hedgerow(*PLAN, "-f", "-", stdin=manifest) == (0, "", "nothing to do\n")


def test_a_namespace_that_a_file_holds_is_not_said_to_be_missing(hedgerow: Hedgerow) -> None:
    manifest = "apiVersion: v1\nkind: Secret\nmetadata: {name: cart, namespace: shop}\n"

    assert hedgerow("plan", "secret", "-f", "-", stdin=f"{manifest}---\n{NAMESPACE}") == (0, "", "nothing to do\n")


def test_the_note_on_missing_namespaces_stays_short(hedgerow: Hedgerow) -> None:
    services = [f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c, namespace: n{number}}}" for number in range(7)]
    services = [text.replace("ConfigMap", "Service") + "\nspec: {clusterIP: None}\n" for text in services]

    ended = hedgerow(*PLAN, "-f", "-", stdin="---\n".join(services))

    assert ended.err == (
        "note: assuming that these namespaces exist, without further labels: n0, n1, n2, n3, n4 and 2 more\n"
        "nothing to do\n"
    )


# What cannot.


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("x.yaml", None, "x.yaml: does not exist"),
        ("/proc/self/mem", None, "/proc/self/mem: cannot be read: input/output error"),
        ("x.yaml", ALIAS_BOMB.encode(), "x.yaml:1: line 7: aliases multiply the document beyond reason"),
        ("x.yaml", b"kind: Service\nmetadata:\n\tname: a\n", "x.yaml:1: line 3: tabs cannot indent YAML; use blanks"),
        ("x.yaml", (CART * 2).encode(), "x.yaml:2: Service shop/cart stands already in x.yaml:1"),
        ("x.yaml", b"apiVersion: v1\nkind: Service\n", "x.yaml:1: a Service without a name"),
        ("x.yaml", b"\x7fELF\0\0", "x.yaml: is a binary file: it holds NUL bytes"),
        ("x.yaml", b"kind: Caf\xe9\n", "x.yaml: line 1: is not UTF-8 text: it holds the byte 0xe9"),
        ("x.yaml", b"hello\n", "x.yaml:1: expected an object, got a string"),
        ("x.json", b'{"kind": ', "x.json:1: line 1: is not JSON: expecting value"),
        ("empty/x.txt", b"", "empty: holds no .yaml, .yml or .json files"),
        (
            "x.yaml",
            f"apiVersion: v1\nkind: Service\nmetadata: {{name: a, annotations: {{{SELECTORS}: []}}}}\n".encode(),
            f"x.yaml:1: metadata.annotations[{SELECTORS}]: expected a string, got a list",
        ),
        (
            "x.yaml",
            b"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 0, targetPort: 80}]}\n",
            (
                'x.yaml:1: Service "a" is invalid: spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, '
                "inclusive"
            ),
        ),
        (
            "x.yaml",
            (
                b"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: a}\n"
                b"spec: {podSelector: {}, policyTypes: [Sideways]}\n"
            ),
            (
                'x.yaml:1: NetworkPolicy.networking.k8s.io "a" is invalid: spec.policyTypes[0]: Unsupported value: '
                '"Sideways": supported values: "Ingress", "Egress"'
            ),
        ),
    ],
    ids=[
        "missing",
        "unreadable",
        "alias-bomb",
        "tabs",
        "object-twice",
        "without-name",
        "binary",
        "latin-1",
        "text",
        "cut-off-json",
        "folder-without-manifests",
        "annotation-that-is-no-string",
        "service-that-a-server-refuses",
        "policy-that-a-server-refuses",
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(
    name: str, content: bytes | None, sentence: str, hedgerow: Hedgerow, folder: Path
) -> None:
    if content is not None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)

    ended = hedgerow(*PLAN, "-f", name.removesuffix("/x.txt"))

    assert ended == (1, "", f"error: {sentence}\n")


def test_everything_that_is_wrong_is_listed(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "a.yaml").write_text("apiVersion: v1\nkind: Service\n---\nhello\n")

    assert hedgerow(*PLAN, "-f", "a.yaml", "-f", "b.yaml").err == (
        "error: a.yaml:1: a Service without a name\n"
        "error: a.yaml:2: expected an object, got a string\n"
        "error: b.yaml: does not exist\n"
    )


@pytest.mark.parametrize("name", ["shop", "default"])
def test_a_namespace_that_is_refused_is_the_fault_of_nothing_in_it(name: str, hedgerow: Hedgerow) -> None:
    namespace = f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\nspec: 5\n---\n"
    bad_port = (
        f"apiVersion: v1\nkind: Service\nmetadata: {{name: a, namespace: {name}}}\nspec: {{ports: [{{port: x}}]}}\n"
    )

    assert hedgerow(*PLAN, "-f", "-", stdin=namespace + CART.replace("shop", name) + bad_port).err == (
        f'error: <stdin>:1: Namespace {name}: Namespace in version "v1" cannot be handled as a Namespace: json: cannot '
        "unmarshal number into field spec of type object\n"
        f'error: <stdin>:3: Service {name}/a: Service in version "v1" cannot be handled as a Service: json: cannot '
        "unmarshal string into field spec.ports[0].port of type int32\n"
    )


def test_a_namespace_that_cannot_exist_is_said_once_where_it_is_named_first(hedgerow: Hedgerow) -> None:
    services = [CART.replace("shop", "Shop").replace("cart", name) for name in ("cart", "till")]

    assert hedgerow(*PLAN, "-f", "-", stdin=NAMESPACE + "".join(services)).err == (
        "note: assuming that these namespaces exist, without further labels: Shop\n"
        'error: <stdin>:2: Namespace "Shop" is invalid: metadata.name: Invalid value: "Shop": must consist of a-z, 0-9 '
        'and "-", starting and ending with a letter or digit, for example "my-name" or "123-abc"\n'
    )


def test_a_process_without_standard_input_says_so(hedgerow: Hedgerow) -> None:
    assert hedgerow(*PLAN, "-f", "-", stdin=None) == (
        1,
        "",
        "error: <stdin>: cannot be read: i/o operation on closed file.\n",
    )
