import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.entrypoints.command_line import ALIAS_BOMB, REPOSITORY, Hedgerow

HEAD = "apiVersion: resourcemanager.config.gardener.cloud/v1alpha1\nkind: ResourceManagerConfiguration\n"
ELECTION = "leaderElection: {resourceNamespace: garden}\n"
OFFLINE = ("plan", "networkpolicy", "-f", "-", "--config")
BAD_FILES = [
    (None, "error reading config file: config.yaml: No such file or directory"),
    (b"kind: Caf\xe9\n", "error decoding config: config.yaml: not a text in UTF-8"),
    (b"a:\n\tb: 1\n", "error decoding config: config.yaml: line 2: tabs cannot indent YAML; use blanks"),
    (
        b"a: 1\na: 2\n---\nb: 1\nb: .nan\n",
        (
            'error decoding config: config.yaml: line 2: the key "a" appears twice in one mapping\n'
            'error decoding config: config.yaml: line 5: the key "b" appears twice in one mapping\n'
            "error decoding config: config.yaml: line 5: a value is not a number that JSON knows"
        ),
    ),
    (ALIAS_BOMB.encode(), "error decoding config: config.yaml: line 7: aliases multiply the document beyond reason"),
    (b"", "error decoding config: config.yaml: holds no document"),
    (b"---\n# nothing\n---\n", "error decoding config: config.yaml: holds no document"),
    (
        f"{HEAD}---\n{HEAD}".encode(),
        "error decoding config: config.yaml: holds 2 documents, of which only one could count",
    ),
    (
        b"apiVersion: v1\nkind: Service\n",
        (
            "error decoding config: config.yaml: apiVersion: "
            'expected "resourcemanager.config.gardener.cloud/v1alpha1", got "v1"\n'
            'error decoding config: config.yaml: kind: expected "ResourceManagerConfiguration", got "Service"'
        ),
    ),
    (
        f"{HEAD}controllers: 3\n".encode(),
        "error decoding config: config.yaml: controllers: expected an object, got an integer: 3",
    ),
    (
        f"{HEAD}{ELECTION}logLevel: loud\nlogFormat: prose\n".encode(),
        (
            'error: config.yaml: logLevel: Unsupported value: "loud": supported values: "debug", "info", "error"\n'
            'error: config.yaml: logFormat: Unsupported value: "prose": supported values: "json", "text"'
        ),
    ),
    (
        f"{HEAD}{ELECTION}controllers: {{tokenRequestor: {{enabled: true}}}}\n".encode(),
        (
            "error: config.yaml: controllers.tokenRequestor.targetNamespace: Required value: source and target are one "
            "cluster, in which everybody who may write a Secret would get a token of any ServiceAccount: set "
            "targetNamespace, or sourceNamespaces, or namespaces of sourceClientConnection"
        ),
    ),
]
IDS = [
    "missing",
    "latin-1",
    "tab",
    "repeated-keys",
    "alias-bomb",
    "empty",
    "empty-documents",
    "two-documents",
    "another-kind",
    "wrong-type",
    "invalid",
    "unlimited-token-requestor",
]


def test_a_configuration_is_printed_with_its_defaults(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "config.yaml").write_text(HEAD + ELECTION)

    ended = hedgerow("config", "check", "config.yaml")
    document = yaml.safe_load(ended.out)

    assert (ended.code, ended.err) == (0, "")
    assert document["leaderElection"]["leaseDuration"] == "15s"
    (folder / "again.yaml").write_text(ended.out)
    assert hedgerow("config", "check", "again.yaml") == (0, ended.out, "")


def test_what_its_author_should_know_is_a_warning(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "config.yaml").write_text(f"{HEAD}{ELECTION}nonsense: 1\ndebugging: {{enableProfiling: true}}\n")

    ended = hedgerow("config", "check", "config.yaml")

    assert (ended.code, ended.err) == (
        0,
        (
            "warning: config.yaml: nonsense: unknown field, ignored\n"
            "warning: config.yaml: debugging.enableProfiling: this field is not acted on in this version\n"
        ),
    )


def paths(document: Any, path: str = "") -> set[str]:
    """Every field of a document, but for what stands in lists."""
    if not isinstance(document, dict):
        return {path}
    return {path}.union(*(paths(value, f"{path}.{name}") for name, value in document.items()))


@pytest.mark.parametrize(
    "name",
    [
        "resource-manager",
        "resource-manager-complete",
        "webhooks",
        "controller-manager",
        "seed-extensions",
        "rsyslog-relp/process",
    ],
)
def test_an_example_is_valid_and_nothing_is_odd_in_it(name: str, hedgerow: Hedgerow) -> None:
    ended = hedgerow("config", "check", str(REPOSITORY / "examples" / f"{name}.yaml"))

    assert (ended.code, ended.err) == (0, "")


def test_the_complete_example_sets_every_field_and_switches_everything_on(hedgerow: Hedgerow) -> None:
    example = REPOSITORY / "examples" / "resource-manager-complete.yaml"
    document = yaml.safe_load(example.read_text(encoding="utf-8"))

    printed = yaml.safe_load(hedgerow("config", "check", str(example)).out)

    document["controllers"]["managedResource"] = document["controllers"].pop("managedResources")
    assert paths(document) == paths(printed)
    sections = [*document["controllers"].values(), *document["webhooks"].values()]
    assert all(section.get("enabled", True) for section in sections if isinstance(section, dict))


@pytest.mark.parametrize("arguments", [("config", "check"), OFFLINE], ids=["check", "plan"])
@pytest.mark.parametrize(("content", "sentence"), BAD_FILES, ids=IDS)
def test_a_file_that_is_no_valid_configuration_is_said_in_a_sentence(
    arguments: tuple[str, ...], content: bytes | None, sentence: str, hedgerow: Hedgerow, folder: Path
) -> None:
    if content is not None:
        (folder / "config.yaml").write_bytes(content)

    assert hedgerow(*arguments, "config.yaml") == (1, "", f"{sentence}\n")


def test_a_process_says_each_error_in_a_line_of_its_log(hedgerow: Hedgerow, folder: Path) -> None:
    def causes(content: str) -> list[tuple[str, str]]:
        (folder / "config.yaml").write_text(content)
        ended = hedgerow("run", "resource-manager", "--config", "config.yaml")
        lines = [json.loads(line) for line in ended.err.splitlines()]
        assert (ended.code, ended.out, {line["msg"] for line in lines}) == (1, "", {"Process failed"})
        assert {line["file"] for line in lines} == {"config.yaml"}
        return [(line.get("field", ""), line["error"]) for line in lines]

    repeated = 'the key "a" appears twice in one mapping'
    assert causes("a: 1\na: 2\na: 3\n") == [("", f"line 2: {repeated}"), ("", f"line 3: {repeated}")]
    assert causes("apiVersion: v1\nkind: Service\n") == [
        ("apiVersion", 'expected "resourcemanager.config.gardener.cloud/v1alpha1", got "v1"'),
        ("kind", 'expected "ResourceManagerConfiguration", got "Service"'),
    ]
    assert causes(f"{HEAD}{ELECTION}logLevel: loud\nlogFormat: prose\n") == [
        ("logLevel", 'Unsupported value: "loud": supported values: "debug", "info", "error"'),
        ("logFormat", 'Unsupported value: "prose": supported values: "json", "text"'),
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("config.yaml", f"\ufeff---\n{HEAD}{ELECTION}---\n# no more\n", id="one among empty ones"),
        pytest.param("config.yaml", f"{HEAD}{ELECTION}controllers: {{clusterID: 2001-01-01}}\n", id="no timestamps"),
        pytest.param(
            "config.json", "\ufeff" + json.dumps({**yaml.safe_load(HEAD), **yaml.safe_load(ELECTION)}), id="JSON"
        ),
    ],
)
def test_a_configuration_is_read_as_manifests_are(name: str, content: str, hedgerow: Hedgerow, folder: Path) -> None:
    (folder / name).write_text(content, encoding="utf-8")

    assert hedgerow("config", "check", name).code == 0


def test_a_configuration_may_come_from_standard_input(hedgerow: Hedgerow) -> None:
    ended = hedgerow("config", "check", "-", stdin=f"{HEAD}{ELECTION}logLvel: info\n")

    assert (ended.code, yaml.safe_load(ended.out)["logLevel"]) == (0, "info")
    assert ended.err == "warning: -: logLvel: unknown field, ignored; did you mean logLevel?\n"
    assert hedgerow("config", "check", "-", stdin=None) == (
        1,
        "",
        "error reading config file: -: I/O operation on closed file.\n",
    )


def test_objects_and_a_configuration_are_not_both_read_from_standard_input(hedgerow: Hedgerow) -> None:
    assert hedgerow(*OFFLINE, "-", stdin=HEAD) == (
        1,
        "",
        "error reading config file: -: only `hedgerow config check` reads standard input\n",
    )


def test_a_folder_is_no_configuration(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "configs").mkdir()

    assert hedgerow("config", "check", "configs").err == "error reading config file: configs: Is a directory\n"


def test_only_a_process_in_a_cluster_needs_a_namespace_for_its_lease(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "config.yaml").write_text(HEAD)

    assert hedgerow(*OFFLINE, "config.yaml") == (0, "", "nothing to do\n")
    assert hedgerow("config", "check", "config.yaml").err == (
        'error: config.yaml: leaderElection.resourceNamespace: Invalid value: "": resourceNamespace is required\n'
    )


def test_a_field_is_explained_and_those_right_below_it(hedgerow: Hedgerow) -> None:
    ended = hedgerow("config", "explain", "leaderElection")

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("leaderElection <object>\n  Which Lease replicas compete for.")
    assert "\n\n  leaseDuration <duration>, default 15s\n    So long others wait" in ended.out


def test_some_defaults_count_only_where_a_section_is_enabled(hedgerow: Hedgerow) -> None:
    listed = hedgerow("config", "explain", "--recursive").out.splitlines()

    assert "controllers.node.backoff <duration>, default 10s where enabled" in listed
    assert "controllers.health.syncPeriod <duration>, default 1m0s" in listed
    assert "targetClientConnection.cacheResyncPeriod <duration>, default 24h0m0s" in listed
    assert "sourceClientConnection.qps <number>" in listed


@pytest.mark.parametrize("place", ["", "[]", "[0]"])
def test_places_in_lists_do_not_matter_to_what_a_field_means(place: str, hedgerow: Hedgerow) -> None:
    path = f"webhooks.systemComponentsConfig.podTolerations{place}.effect"

    assert hedgerow("config", "explain", path).out.startswith(
        "webhooks.systemComponentsConfig.podTolerations[].effect <string>\n  The effect of the taint"
    )


def test_all_fields_are_listed_one_to_a_line(hedgerow: Hedgerow) -> None:
    assert hedgerow("config", "explain", "--recursive", "server.metrics").out == (
        'server.metrics.bindAddress <string>, default ""\nserver.metrics.port <integer>, default 8080\n'
    )


def test_a_field_that_several_files_have_is_explained_for_the_component_that_is_named(hedgerow: Hedgerow) -> None:
    lease = ("config", "explain", "leaderElection.resourceName")

    assert "default gardener-resource-manager\n" in hedgerow(*lease).out
    assert "default hedgerow-seed-extensions\n" in hedgerow(*lease, "--component", "seed-extensions").out
    assert hedgerow("config", "explain", "gardenAccess", "--component", "controller-manager").code == 1


def test_a_field_that_does_not_exist_is_an_error(hedgerow: Hedgerow) -> None:
    assert hedgerow("config", "explain", "controllers.nodes") == (
        1,
        "",
        'error: there is no field "controllers.nodes"; did you mean controllers.node?\n',
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("check",), "error: Missing argument 'FILE'.\nTry 'hedgerow config check --help' for help.\n"),
        (("chekc",), "error: No such command 'chekc'. Did you mean 'check'?\nTry 'hedgerow config --help' for help.\n"),
    ],
    ids=["no-file", "unknown-question"],
)
def test_wrong_usage_is_an_error(arguments: tuple[str, ...], sentence: str, hedgerow: Hedgerow) -> None:
    assert hedgerow("config", *arguments) == (1, "", sentence)
