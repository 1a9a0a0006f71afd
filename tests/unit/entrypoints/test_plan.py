import json
from pathlib import Path

import pytest
import yaml

from tests.unit.entrypoints.command_line import (
    ALIAS_BOMB,
    BROKEN,
    CART,
    DOMAIN,
    EDITED_AND_LEFT_OVER,
    NAMESPACE,
    SELECTORS,
    Hedgerow,
)

PLAN = ("plan", "network-policy")
ASSUMED = "note: assuming that these namespaces exist, without further labels: shop\n"
USAGE = "Try 'hedgerow plan --help' for help.\n"
CART_TABLE = """\
ACTION    KIND           NAMESPACE    NAME                      REASON
create    NetworkPolicy  shop         egress-to-cart-tcp-8080   service-port
create    NetworkPolicy  shop         ingress-to-cart-tcp-8080  service-port
"""
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
        ("x.yaml", b"hello\n", 'x.yaml:1: must be a mapping, got "hello"'),
        ("x.json", b'{"kind": ', "x.json:1: line 1: is not JSON: expecting value"),
        ("empty/x.txt", b"", "empty: holds no .yaml, .yml or .json files"),
        (
            "x.yaml",
            f"apiVersion: v1\nkind: Service\nmetadata: {{name: a, annotations: {{{SELECTORS}: []}}}}\n".encode(),
            f'x.yaml:1: metadata.annotations["{SELECTORS}"]: must be a string, got a list',
        ),
        (
            "x.yaml",
            b"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 0}]}\n",
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
        'error: a.yaml:2: must be a mapping, got "hello"\n'
        "error: b.yaml: does not exist\n"
    )


def test_a_process_without_standard_input_says_so(hedgerow: Hedgerow) -> None:
    assert hedgerow(*PLAN, "-f", "-", stdin=None) == (
        1,
        "",
        "error: <stdin>: cannot be read: i/o operation on closed file.\n",
    )


# What is planned for, and what not.


def test_an_object_that_cannot_be_planned_for_does_not_stop_the_others(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "shop.yaml").write_text(NAMESPACE + CART + BROKEN)

    assert hedgerow(*PLAN, "-f", "shop.yaml", "-o", "table") == (
        1,
        CART_TABLE,
        (
            f'error: shop.yaml:3: Service shop/broken: metadata.annotations["{SELECTORS}"]: is not valid JSON\n'
            "2 to create, 1 error\n"
        ),
    )


def test_a_plan_that_deletes_a_suspicious_share_is_warned_of(hedgerow: Hedgerow) -> None:
    left_over = EDITED_AND_LEFT_OVER.split("---\n")[1]
    policies = [left_over.replace("tcp-1", f"tcp-{number}") for number in range(1, 22)]

    ended = hedgerow(*PLAN, "-f", "-", "-o", "table", stdin="---\n".join([NAMESPACE, *policies]))

    assert (ended.code, ended.err) == (
        2,
        (
            "warning: networkpolicy would delete 21 of the 21 objects that it owns; a running controller holds that "
            "back until a fresh list confirms it, and never deletes all\n21 to delete\n"
        ),
    )


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
            "field": f'metadata.annotations["{SELECTORS}"]',
            "problem": "is not valid JSON",
        }
    ]


# How it is called.


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Missing argument 'CONTROLLER...'. Choose from:\n\tnetwork-policy"),
        (("garden", "-f", "-"), "Invalid value for 'CONTROLLER...': 'garden' is not 'network-policy'."),
        (("network-policy",), "give the objects either by -f or by --kubeconfig/--context"),
        (
            ("network-policy", "-f", "-", "--kubeconfig", "x"),
            "give the objects either by -f or by --kubeconfig/--context",
        ),
        (("network-policy", "-f", "-", "--context", "x"), "give the objects either by -f or by --kubeconfig/--context"),
        (("network-policy", "--outptu", "table"), "No such option '--outptu'. Did you mean '--output'?"),
        (
            ("network-policy", "-f", "-", "-o", "xml"),
            "Invalid value for '-o' / '--output': 'xml' is not one of 'diff', 'table', 'yaml', 'json'.",
        ),
    ],
    ids=["no-controller", "unknown-controller", "no-source", "both", "both-by-context", "unknown-option", "format"],
)
def test_wrong_usage_is_an_error_and_not_pending_changes(
    arguments: tuple[str, ...], sentence: str, hedgerow: Hedgerow
) -> None:
    assert hedgerow("plan", *arguments) == (1, "", f"error: {sentence}\n{USAGE}")


def test_a_controller_named_twice_plans_once(hedgerow: Hedgerow) -> None:
    ended = hedgerow("plan", "network-policy", "network-policy", "-f", "-", "-o", "table", stdin=NAMESPACE + CART)

    assert ended.out == CART_TABLE


# Clusters that are refused before anybody connects.

KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: seed
contexts: [{name: seed, context: {cluster: seed, user: admin}}]
clusters: [{name: seed, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: admin, user: {USER}}]
"""
TOKEN = KUBECONFIG.replace("USER", "token: secret")


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        (None, (), "kubeconfig kubeconfig: cannot be read: No such file or directory"),
        ("kind: [", (), "kubeconfig kubeconfig: not YAML: line 1, column 8"),
        (TOKEN, ("--context", "shoot"), 'kubeconfig kubeconfig: no context "shoot", there are: seed'),
        (
            KUBECONFIG.replace("USER", "exec: {command: aws}"),
            (),
            (
                'kubeconfig kubeconfig: exec configurations are not supported (user "admin"), these are the valid '
                "fields: [client-certificate-data client-key-data token username password tokenFile]"
            ),
        ),
    ],
    ids=["missing", "not-yaml", "without-the-context", "exec"],
)
def test_an_unusable_kubeconfig_is_said_in_a_sentence(
    text: str | None, options: tuple[str, ...], sentence: str, hedgerow: Hedgerow, folder: Path
) -> None:
    if text is not None:
        (folder / "kubeconfig").write_text(text)

    assert hedgerow(*PLAN, "--kubeconfig", "kubeconfig", *options) == (1, "", f"error: {sentence}\n")


def test_a_context_alone_means_the_kubeconfig_that_kubectl_would_take(
    hedgerow: Hedgerow, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "mine")
    assert (
        hedgerow(*PLAN, "--context", "c").err == "error: kubeconfig mine: cannot be read: No such file or directory\n"
    )

    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.setenv("HOME", str(folder))
    default = folder / ".kube" / "config"
    assert hedgerow(*PLAN, "--context", "c").err == (
        f"error: kubeconfig {default}: cannot be read: No such file or directory\n"
    )


def test_several_kubeconfigs_are_refused(hedgerow: Hedgerow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "one:two")

    assert hedgerow(*PLAN, "--context", "seed") == (
        1,
        "",
        "error: KUBECONFIG names several files, which are not merged here: give one by --kubeconfig\n",
    )
