"""`hedgerow render rsyslog-relp`: the files of a node, and what keeps them from being written."""

import base64
from pathlib import Path

import pytest
import yaml

from tests.e2e.rsyslog.authority import Authority
from tests.unit.entrypoints.command_line import REPOSITORY, Hedgerow

EXAMPLE = REPOSITORY / "examples" / "rsyslog-relp" / "config.yaml"
PLAIN = REPOSITORY / "tests" / "golden" / "rsyslog_relp" / "plain" / "config.yaml"
CONF = "var/lib/rsyslog-relp-configurator/rsyslog.d/60-audit.conf"
CONFIGURE = "var/lib/rsyslog-relp-configurator/configure-rsyslog.sh"


def files_below(folder: Path) -> set[str]:
    return {str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file()}


def secret(path: Path, **values: str) -> Path:
    encoded = {name: base64.b64encode(value.encode()).decode() for name, value in values.items()}
    metadata = {"name": "rsyslog-tls", "namespace": "garden-core"}
    path.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded}))
    return path


def test_every_file_of_a_node_is_written_at_its_place(hedgerow: Hedgerow, tmp_path: Path) -> None:
    done = hedgerow("render", "rsyslog-relp", "-f", str(PLAIN), "--out", str(tmp_path / "node"), "--project", "dev")

    assert (done.code, done.err) == (0, "")
    assert {str(Path(line).relative_to(tmp_path / "node")) for line in done.out.splitlines()} == files_below(
        tmp_path / "node"
    )
    assert 'constant(value="dev")' in (tmp_path / "node" / CONF).read_text()
    assert (tmp_path / "node" / CONFIGURE).stat().st_mode & 0o777 == 0o744
    assert str(tmp_path) not in (tmp_path / "node" / CONFIGURE).read_text()


def test_scripts_can_be_made_to_work_on_the_folder(hedgerow: Hedgerow, tmp_path: Path) -> None:
    assert hedgerow("render", "rsyslog-relp", "-f", str(PLAIN), "--out", str(tmp_path), "--runnable").code == 0

    assert f"{tmp_path}/etc/rsyslog.d/60-audit.conf" in (tmp_path / CONFIGURE).read_text()


def test_certificates_come_from_a_secret(hedgerow: Hedgerow, tmp_path: Path) -> None:
    Authority().issue("node", tmp_path / "issued")
    files = {"ca": "ca.crt", "crt": "tls.crt", "key": "tls.key"}
    values = {name: (tmp_path / "issued" / file).read_text() for name, file in files.items()}
    given = str(secret(tmp_path / "secret.yaml", **values))

    done = hedgerow("render", "rsyslog-relp", "-f", str(EXAMPLE), "--secret", given, "--out", str(tmp_path / "node"))

    key = tmp_path / "node" / "var/lib/rsyslog-relp-configurator/tls/tls.key"
    assert (done.code, done.err) == (0, "")
    assert key.read_text() == values["key"]
    assert key.stat().st_mode & 0o777 == 0o600


def test_certificates_that_are_missing_are_noted(hedgerow: Hedgerow, tmp_path: Path) -> None:
    done = hedgerow("render", "rsyslog-relp", "-f", str(EXAMPLE), "--out", str(tmp_path / "node"))

    assert done.err == "note: without --secret the certificates of TLS are not among the files\n"
    assert not [each for each in files_below(tmp_path / "node") if "tls" in each]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "expected an object, got a list"),
        ("port: 1", "port: is an unknown field"),
        (PLAIN.read_text() + "prot: 1\n", "prot: is an unknown field; did you mean port?"),
        (PLAIN.read_text() + "port: 0\n", 'the key "port" appears twice in one mapping'),
        (PLAIN.read_text().replace("2514", "0"), "port: Invalid value: 0: port must be between 1 and 65535"),
    ],
)
def test_an_invalid_configuration_is_told_and_nothing_is_written(
    hedgerow: Hedgerow, tmp_path: Path, text: str, problem: str
) -> None:
    done = hedgerow("render", "rsyslog-relp", "-f", "-", "--out", str(tmp_path / "node"), stdin=text)

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: -: ")
    assert problem in done.err
    assert not (tmp_path / "node").exists()


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"ca": "a", "crt": "c"}, "secret garden-core/rsyslog-tls is missing key value"),
        ({"ca": "a", "crt": "c", "key": "k", "more": "m"}, "should have only three data entries"),
        (
            {"ca": "a", "crt": "c", "key": "k"},
            "secret garden-core/rsyslog-tls has no certificate in PEM as its ca value",
        ),
    ],
)
def test_an_invalid_secret_is_told(hedgerow: Hedgerow, tmp_path: Path, values: dict[str, str], problem: str) -> None:
    given = str(secret(tmp_path / "secret.yaml", **values))

    done = hedgerow("render", "rsyslog-relp", "-f", str(EXAMPLE), "--secret", given, "--out", str(tmp_path / "node"))

    assert done.code == 1
    assert problem in done.err
    assert not (tmp_path / "node").exists()


def test_a_secret_without_tls_is_an_error(hedgerow: Hedgerow, tmp_path: Path) -> None:
    given = str(secret(tmp_path / "secret.yaml", ca="a", crt="c", key="k"))

    done = hedgerow("render", "rsyslog-relp", "-f", str(PLAIN), "--secret", given, "--out", str(tmp_path / "node"))

    assert done.err == f"error: {given}: the configuration does not enable TLS, so that no Secret is used\n"


def test_a_folder_with_something_in_it_is_left_as_it_is(hedgerow: Hedgerow, tmp_path: Path) -> None:
    (tmp_path / "mine").touch()

    done = hedgerow("render", "rsyslog-relp", "-f", str(PLAIN), "--out", str(tmp_path))

    assert (done.code, done.err) == (1, f"error: {tmp_path}: is not empty\n")
    assert files_below(tmp_path) == {"mine"}


def test_a_place_that_cannot_be_written_is_named(hedgerow: Hedgerow, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    done = hedgerow("render", "rsyslog-relp", "-f", str(PLAIN), "--out", str(tmp_path / "file" / "node"))

    assert done.err == f"error: {tmp_path / 'file' / 'node'}: Not a directory\n"
