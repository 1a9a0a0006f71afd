import base64
import errno
import json
import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import NoReturn

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.x509.verification import PolicyBuilder, Store

from hedgerow.admission.blocking import pods_of
from tests.unit.entrypoints.command_line import REPOSITORY, Hedgerow

HEAD = "apiVersion: resourcemanager.config.gardener.cloud/v1alpha1\nkind: ResourceManagerConfiguration\n"
SECCOMP = "webhooks: {seccompProfile: {enabled: true}}\n"
RUNTIME = ("webhooks", "render", "--config", "config.yaml", "--mode", "runtime")
TARGET = ("webhooks", "render", "--config", "config.yaml", "--mode", "target")
MAKE = ("webhooks", "certificate", "--out", "made")
MADE = """\
wrote made/ca.crt, made/tls.crt and made/tls.key
valid for 7 days, for gardener-resource-manager, gardener-resource-manager.garden, \
gardener-resource-manager.garden.svc, gardener-resource-manager.garden.svc.cluster.local
"""
FILES = ["ca.crt", "tls.crt", "tls.key"]


@pytest.fixture
def config(folder: Path) -> Path:
    """A configuration that enables one webhook, in the working directory."""
    file = folder / "config.yaml"
    file.write_text(HEAD + SECCOMP)
    return file


@pytest.fixture
def small_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that take little time to make, where their length does not matter."""
    monkeypatch.setattr("hedgerow.admission.certificates.KEY_BITS", 2048)


def test_what_a_configuration_enables_is_printed_for_kubectl(config: Path, hedgerow: Hedgerow) -> None:
    in_yaml, in_json = hedgerow(*RUNTIME), hedgerow(*RUNTIME, "-o", "json")

    (manifest,) = yaml.safe_load_all(in_yaml.out)
    assert (in_yaml.code, in_yaml.err) == (0, "")
    assert manifest["kind"] == "MutatingWebhookConfiguration"
    assert [webhook["name"] for webhook in manifest["webhooks"]] == ["seccomp-profile.resources.gardener.cloud"]
    assert json.loads(in_json.out) == {"apiVersion": "v1", "kind": "List", "items": [manifest]}


def test_prefix_and_namespace_are_in_the_address(config: Path, hedgerow: Hedgerow) -> None:
    ended = hedgerow(*TARGET, "--name-prefix", "virtual-", "--namespace", "shoot--local--one")

    address = yaml.safe_load(ended.out)["webhooks"][0]["clientConfig"]["url"]
    assert address == "https://virtual-gardener-resource-manager.shoot--local--one:443/webhooks/seccomp-profile"


@pytest.mark.usefixtures("config")
def test_a_registration_that_could_block_the_pods_of_the_process_is_not_printed(
    hedgerow: Hedgerow, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = pods_of("garden", {"app": "other"})
    monkeypatch.setattr("hedgerow_entrypoints.cli.webhooks.pods_of", lambda _namespace, _labels: others)

    assert hedgerow(*RUNTIME) == (
        1,
        "",
        (
            'error: webhook "seccomp-profile.resources.gardener.cloud" could block '
            "Pod garden, without which the process does not run: its rule for CREATE of pods fails while no replica "
            "answers\n"
        ),
    )


def test_where_nothing_is_enabled_nothing_is_printed_but_it_is_said(folder: Path, hedgerow: Hedgerow) -> None:
    (folder / "config.yaml").write_text(HEAD + "webhooks: {crdDeletionProtection: {enabled: true}}\n")

    assert hedgerow(*TARGET) == (
        0,
        "",
        (
            "note: config.yaml: crd-deletion-protection is enabled, but not registered in the target cluster\n"
            "warning: config.yaml: enables no webhook that would be registered in the target cluster\n"
        ),
    )


@pytest.mark.parametrize(
    ("arguments", "left_out"),
    [(RUNTIME, ["system-components-config"]), (TARGET, ["crd-deletion-protection", "extension-validation"])],
    ids=["runtime", "target"],
)
def test_enabled_webhooks_that_a_cluster_does_not_get_are_told_of(
    arguments: tuple[str, ...], left_out: list[str], folder: Path, hedgerow: Hedgerow
) -> None:
    names = ("crdDeletionProtection", "extensionValidation", "seccompProfile", "systemComponentsConfig")
    enabled = ", ".join(f"{name}: {{enabled: true}}" for name in names)
    (folder / "config.yaml").write_text(f"{HEAD}webhooks: {{{enabled}}}\n")

    ended = hedgerow(*arguments)

    assert (ended.code, ended.err) == (
        0,
        "".join(
            f"note: config.yaml: {name} is enabled, but not registered in the {arguments[-1]} cluster\n"
            for name in left_out
        ),
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--ca-bundle", "missing.crt"), "error: missing.crt: No such file or directory\n"),
        (
            ("--ca-bundle", "config.yaml"),
            "error: config.yaml: holds no certificate in PEM, or one that cannot be read\n",
        ),
        (
            ("--namespace", "Garden"),
            "error: Invalid value for '--namespace': 'Garden' cannot be the name of a namespace: ",
        ),
        (("--name-prefix", "a."), "error: Invalid value for '--name-prefix': 'a.gardener-resource-manager' cannot be "),
        (("--config", "missing.yaml"), "error reading config file: missing.yaml: No such file or directory\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_rendered_is_said_in_a_sentence(
    arguments: tuple[str, ...], sentence: str, config: Path, hedgerow: Hedgerow
) -> None:
    ended = hedgerow(*RUNTIME, *arguments)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(sentence)


def test_certificates_are_made_that_a_server_can_use_and_registration_can_name(
    config: Path, folder: Path, hedgerow: Hedgerow
) -> None:
    before = datetime.now(UTC).replace(microsecond=0)

    ended = hedgerow(*MAKE, "--days", "7")

    assert ended == (
        0,
        "",
        MADE,
    )
    assert {file.name: file.stat().st_mode & 0o777 for file in (folder / "made").iterdir()} == dict.fromkeys(
        FILES, 0o600
    )
    ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain("made/tls.crt", "made/tls.key")
    authority, serving = (x509.load_pem_x509_certificate(Path("made", name).read_bytes()) for name in FILES[:2])
    serving.verify_directly_issued_by(authority)
    key = serving.public_key()
    assert isinstance(key, RSAPublicKey)
    assert key.key_size == 3072
    assert before <= serving.not_valid_after_utc - timedelta(days=7) <= datetime.now(UTC)
    bundle = yaml.safe_load(hedgerow(*RUNTIME, "--ca-bundle", "made/ca.crt").out)["webhooks"][0]["clientConfig"][
        "caBundle"
    ]
    assert base64.b64decode(bundle) == Path("made/ca.crt").read_bytes()


@pytest.mark.usefixtures("small_keys")
def test_nothing_is_overwritten_unless_that_is_asked_for(folder: Path, hedgerow: Hedgerow) -> None:
    (folder / "made").mkdir()
    (folder / "made" / "tls.key").write_text("precious")

    assert hedgerow(*MAKE) == (1, "", "error: made: tls.key would be overwritten; --force does that\n")
    assert [file.name for file in (folder / "made").iterdir()] == ["tls.key"]

    assert hedgerow(*MAKE, "--force").code == 0
    assert sorted(file.name for file in (folder / "made").iterdir()) == FILES
    assert (folder / "made" / "tls.key").read_text().startswith("-----BEGIN PRIVATE KEY-----")
    assert (folder / "made" / "tls.key").stat().st_mode & 0o777 == 0o600


def test_where_no_folder_can_be_nothing_is_written(folder: Path, hedgerow: Hedgerow) -> None:
    (folder / "made").write_text("a file")

    assert hedgerow(*MAKE) == (1, "", "error: made: is a file, not a folder\n")


@pytest.mark.usefixtures("small_keys")
def test_a_folder_that_cannot_be_written_into_is_named(
    folder: Path, hedgerow: Hedgerow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As everybody but root is refused who writes into a folder that is only to be read."""

    def refused(*, prefix: str, dir: Path) -> NoReturn:  # noqa: A002 -- that is what the library calls it
        raise PermissionError(errno.EACCES, "Permission denied", f"{dir}/{prefix}k3j2h1")

    monkeypatch.setattr(tempfile, "mkstemp", refused)

    assert hedgerow(*MAKE) == (1, "", "error: made: Permission denied\n")


@pytest.mark.usefixtures("small_keys")
def test_a_file_that_cannot_be_replaced_is_named_and_nothing_stays_behind(folder: Path, hedgerow: Hedgerow) -> None:
    (folder / "made" / "ca.crt").mkdir(parents=True)

    assert hedgerow(*MAKE, "--force") == (1, "", "error: made/ca.crt: Is a directory\n")
    assert [file.name for file in (folder / "made").iterdir()] == ["ca.crt"]


@pytest.mark.usefixtures("small_keys")
def test_a_server_on_this_machine_is_registered_by_its_address_and_has_a_certificate_for_it(
    config: Path, hedgerow: Hedgerow
) -> None:
    made = hedgerow(*MAKE, "--host", "127.0.0.1", "--host", "localhost", "--host", "::1")
    clients = [
        webhook["clientConfig"]["url"]
        for arguments in (RUNTIME, TARGET)
        for webhook in yaml.safe_load(hedgerow(*arguments, "--url", "https://127.0.0.1:9449/").out)["webhooks"]
    ]

    assert made.err.endswith(", gardener-resource-manager.garden.svc.cluster.local, 127.0.0.1, localhost, ::1\n")
    authority, serving = (x509.load_pem_x509_certificate(Path("made", name).read_bytes()) for name in FILES[:2])
    policy = PolicyBuilder().store(Store([authority]))
    for host in ("127.0.0.1", "::1"):
        assert policy.build_server_verifier(x509.IPAddress(ip_address(host))).verify(serving, [])
    for name in ("localhost", "gardener-resource-manager.garden.svc"):
        assert policy.build_server_verifier(x509.DNSName(name)).verify(serving, [])
    assert clients == 2 * ["https://127.0.0.1:9449/webhooks/seccomp-profile"]


@pytest.mark.usefixtures("small_keys")
def test_a_certificate_is_for_the_service_that_is_named(folder: Path, hedgerow: Hedgerow) -> None:
    made = hedgerow(*MAKE, "--service", "hedgerow-controller-manager", "--namespace", "garden")

    assert made.code == 0
    serving = x509.load_pem_x509_certificate((folder / "made" / "tls.crt").read_bytes())
    names = serving.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert "hedgerow-controller-manager.garden.svc" in names.get_values_for_type(x509.DNSName)
    assert not any("resource-manager" in name for name in names.get_values_for_type(x509.DNSName))


def test_the_service_of_another_component_has_no_prefix(folder: Path, hedgerow: Hedgerow) -> None:
    ended = hedgerow(*MAKE, "--service", "hedgerow-controller-manager", "--name-prefix", "a-")

    assert (ended.code, list(folder.glob("made"))) == (1, [])
    assert "--name-prefix is for the resource manager" in ended.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((*RUNTIME, "--url", "http://127.0.0.1"), "'http://127.0.0.1' must be https://HOST or https://HOST:PORT, "),
        ((*RUNTIME, "--url", "https://127.0.0.1/a"), "'https://127.0.0.1/a' must be https://HOST or "),
        ((*RUNTIME, "--url", "https://127.0.0.1:0"), "'https://127.0.0.1:0' must be https://HOST or "),
        ((*MAKE, "--host", "127.0.0.1:9449"), "'127.0.0.1:9449' must be an IP address or a DNS name in lower case"),
        ((*MAKE, "--host", "fe80::1%eth0"), "'fe80::1%eth0' must be an IP address or a DNS name in lower case"),
    ],
    ids=["insecure", "path", "no-port", "host-with-port", "scoped"],
)
def test_what_cannot_be_an_address_is_refused(
    arguments: tuple[str, ...], sentence: str, config: Path, hedgerow: Hedgerow
) -> None:
    ended = hedgerow(*arguments)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"error: Invalid value for '{arguments[-2]}': {sentence}")


# Other components than the resource manager.

EXTENSION = str(REPOSITORY / "examples" / "rsyslog-relp" / "process.yaml")


def test_the_webhooks_of_an_extension_are_registered(hedgerow: Hedgerow) -> None:
    printed = hedgerow("webhooks", "render", "--config", EXTENSION, "--namespace", "extension")

    (manifest,) = yaml.safe_load_all(printed.out)
    assert (printed.code, printed.err) == (0, "")
    assert manifest["metadata"]["name"] == "gardener-extension-shoot-rsyslog-relp"
    assert manifest["webhooks"][0]["clientConfig"]["service"]["namespace"] == "extension"


@pytest.mark.parametrize("option", [("--mode", "runtime"), ("--name-prefix", "a-")])
def test_options_of_the_resource_manager_are_refused_for_others(hedgerow: Hedgerow, option: tuple[str, str]) -> None:
    ended = hedgerow("webhooks", "render", "--config", EXTENSION, *option)

    assert ended.code == 1
    assert "--mode and --name-prefix are for the resource manager, not for rsyslog-relp" in ended.err


def test_the_webhooks_of_a_garden_are_registered_at_their_service(hedgerow: Hedgerow) -> None:
    rendered = hedgerow("webhooks", "render", "--config", str(REPOSITORY / "examples" / "controller-manager.yaml"))

    webhooks = [webhook for each in yaml.safe_load_all(rendered.out) for webhook in each["webhooks"]]
    assert len(webhooks) == 3
    assert {each["clientConfig"]["service"]["name"] for each in webhooks} == {"hedgerow-controller-manager"}
