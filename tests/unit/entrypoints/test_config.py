from pathlib import Path

import pytest
import yaml

from tests.unit.entrypoints.command_line import Hedgerow

HEAD = "apiVersion: resourcemanager.config.gardener.cloud/v1alpha1\nkind: ResourceManagerConfiguration\n"
ELECTION = "leaderElection: {resourceNamespace: garden}\n"
OFFLINE = ("plan", "network-policy", "-f", "-", "--config")
BAD_FILES = [
    (None, "error reading config file: config.yaml: No such file or directory"),
    (b"kind: Caf\xe9\n", "error decoding config: config.yaml: not a text in UTF-8"),
    (b"a: [\n", "error decoding config: config.yaml: line 2: expected the node content, but found '<stream end>'"),
    (b"", "error decoding config: expected an object, got null"),
    (
        b"apiVersion: v1\nkind: Service\n",
        (
            'error decoding config: [apiVersion: expected "resourcemanager.config.gardener.cloud/v1alpha1", got "v1", '
            'kind: expected "ResourceManagerConfiguration", got "Service"]'
        ),
    ),
    (f"{HEAD}controllers: 3\n".encode(), "error decoding config: controllers: expected an object, got an integer"),
    (
        f"{HEAD}{ELECTION}logLevel: loud\n".encode(),
        'error: logLevel: Unsupported value: "loud": supported values: "debug", "info", "error"',
    ),
]
IDS = ["missing", "latin-1", "not-yaml", "empty", "another-kind", "wrong-type", "invalid"]


def test_a_configuration_is_printed_with_its_defaults(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "config.yaml").write_text(HEAD + ELECTION)

    ended = hedgerow("config", "check", "config.yaml")
    document = yaml.safe_load(ended.out)

    assert (ended.code, ended.err) == (0, "")
    assert document["leaderElection"]["leaseDuration"] == "15s"
    (folder / "again.yaml").write_text(ended.out)
    assert hedgerow("config", "check", "again.yaml") == (0, ended.out, "")


def test_what_its_author_should_know_is_a_warning(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "config.yaml").write_text(f"{HEAD}{ELECTION}nonsense: 1\ncontrollers: {{health: {{}}}}\n")

    ended = hedgerow("config", "check", "config.yaml")

    assert (ended.code, ended.err) == (
        0,
        (
            "warning: config.yaml: nonsense: unknown field, ignored\n"
            "warning: config.yaml: controllers.health: this section is not acted on yet\n"
        ),
    )


@pytest.mark.parametrize("arguments", [("config", "check"), OFFLINE], ids=["check", "plan"])
@pytest.mark.parametrize(("content", "sentence"), BAD_FILES, ids=IDS)
def test_a_file_that_is_no_valid_configuration_is_said_in_a_sentence(
    arguments: tuple[str, ...], content: bytes | None, sentence: str, hedgerow: Hedgerow, folder: Path
) -> None:
    if content is not None:
        (folder / "config.yaml").write_bytes(content)

    assert hedgerow(*arguments, "config.yaml") == (1, "", f"{sentence}\n")


def test_a_folder_is_no_configuration(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "configs").mkdir()

    assert hedgerow("config", "check", "configs").err == "error reading config file: configs: Is a directory\n"


def test_only_a_process_in_a_cluster_needs_a_namespace_for_its_lease(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "config.yaml").write_text(HEAD)

    assert hedgerow(*OFFLINE, "config.yaml") == (0, "", "nothing to do\n")
    assert hedgerow("config", "check", "config.yaml").err == (
        'error: leaderElection.resourceNamespace: Invalid value: "": resourceNamespace is required\n'
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
