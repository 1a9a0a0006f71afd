"""From a kubeconfig, or from inside a pod, to a connection."""

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from hedgerow_adapters.kubernetes.connection_files import load_connection
from hedgerow_adapters.kubernetes.credentials import Connection

SECRET = "s3cr3t"  # noqa: S105 -- looked for in messages
NOT_BASE64 = "no base64!"
NO_PEM = base64.b64encode(SECRET.encode()).decode()


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    return tmp_path / "kubeconfig"


def write(path: Path, user: dict[str, Any], **cluster: Any) -> Path:
    document = {
        "clusters": [{"name": "garden", "cluster": {"server": "http://127.0.0.1:8001/prefix/", **cluster}}],
        "users": [{"name": "operator", "user": user}],
        "contexts": [{"name": "main", "context": {"cluster": "garden", "user": "operator", "namespace": "shop"}}],
        "current-context": "main",
    }
    path.write_text(yaml.safe_dump(document))
    return path


async def loaded(path: Path) -> Connection:
    return (await load_connection(path)).unwrap()


async def problem(path: Path | str, context: str = "") -> str:
    failure = (await load_connection(path, context=context)).failure()
    assert SECRET not in f"{failure} {failure!r}"
    assert NO_PEM not in f"{failure} {failure!r}"
    return str(failure)


@pytest.mark.parametrize(
    ("user", "header"),
    [
        ({"token": SECRET}, f"Bearer {SECRET}"),
        ({"username": "me", "password": SECRET}, f"Basic {base64.b64encode(f'me:{SECRET}'.encode()).decode()}"),
        ({"token": SECRET, "username": "me", "password": "other"}, f"Bearer {SECRET}"),
        ({}, ""),
    ],
    ids=["token", "password", "token before password", "nothing"],
)
async def test_embedded_credentials_become_a_header(kubeconfig: Path, user: dict[str, Any], header: str) -> None:
    connection = await loaded(write(kubeconfig, user))

    assert connection.credentials().authorization == header
    assert connection.server == "http://127.0.0.1:8001/prefix"
    assert connection.credentials().tls is None
    assert SECRET not in f"{connection!r} {connection}"


async def test_a_token_file_is_looked_for_beside_the_kubeconfig_and_wins_over_an_embedded_token(
    kubeconfig: Path,
) -> None:
    (kubeconfig.parent / "token").write_text("from file\n")
    connection = await loaded(write(kubeconfig, {"token": SECRET, "tokenFile": "token"}))

    assert connection.credentials().authorization == "Bearer from file"


async def test_until_the_token_file_is_there_an_embedded_token_is_used(kubeconfig: Path) -> None:
    connection = await loaded(write(kubeconfig, {"token": SECRET, "tokenFile": "token"}))

    assert connection.credentials().authorization == f"Bearer {SECRET}"


@pytest.mark.parametrize("content", ["", " \n", "two\nlines", "\xff"], ids=["empty", "blank", "two lines", "no ascii"])
async def test_a_token_file_without_a_token_is_a_failure(kubeconfig: Path, content: str) -> None:
    token = kubeconfig.parent / "token"
    token.write_text(content)

    assert await problem(write(kubeconfig, {"tokenFile": "token"})) == (
        f'kubeconfig {kubeconfig}: no token can be read from tokenFile {token} of user "operator"'
    )


async def test_a_missing_token_file_is_a_failure_that_names_it(kubeconfig: Path) -> None:
    assert await problem(write(kubeconfig, {"tokenFile": "nowhere/token"})) == (
        f"kubeconfig {kubeconfig}: no token can be read from tokenFile {kubeconfig.parent}/nowhere/token"
        ' of user "operator"'
    )


async def test_tls_settings_follow_the_cluster(kubeconfig: Path) -> None:
    write(kubeconfig, {}, server="https://[::1]:6443", **{"tls-server-name": "api.garden"})
    trusting = await loaded(kubeconfig)
    trusting_tls = trusting.credentials().tls
    write(kubeconfig, {}, server="https://[::1]:6443", **{"insecure-skip-tls-verify": True})
    careless_tls = (await loaded(kubeconfig)).credentials().tls

    assert (trusting.server, trusting.server_name) == ("https://[::1]:6443", "api.garden")
    assert trusting_tls is not None
    assert trusting_tls.check_hostname
    assert careless_tls is not None
    assert careless_tls.verify_mode.name == "CERT_NONE"


@pytest.mark.parametrize(
    ("user", "cluster", "clause"),
    [
        (
            {},
            {"certificate-authority-data": NOT_BASE64},
            'certificate-authority-data of cluster "garden" is not base64',
        ),
        ({}, {"certificate-authority-data": NO_PEM}, "the certificate authority is no certificate in PEM"),
        (
            {"client-certificate-data": NOT_BASE64, "client-key-data": NO_PEM},
            {},
            'client-certificate-data of user "operator" is not base64',
        ),
        (
            {"client-certificate-data": NO_PEM, "client-key-data": NO_PEM},
            {},
            "the client certificate and the client key are no matching pair in PEM",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_certificates_that_are_none_are_a_failure(
    kubeconfig: Path, user: dict[str, Any], cluster: dict[str, Any], clause: str
) -> None:
    write(kubeconfig, user, server="https://127.0.0.1", **cluster)

    assert await problem(kubeconfig) == f"kubeconfig {kubeconfig}: {clause}"


async def test_a_certificate_authority_that_is_not_there_is_a_failure(kubeconfig: Path) -> None:
    write(kubeconfig, {}, server="https://127.0.0.1", **{"certificate-authority": "ca.crt"})

    assert await problem(kubeconfig) == (
        f"kubeconfig {kubeconfig}: cannot read certificate authority {kubeconfig.parent}/ca.crt:"
        " No such file or directory"
    )


async def test_a_kubeconfig_that_cannot_be_read_is_a_failure(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")

    assert await problem(tmp_path / "x") == f"kubeconfig {tmp_path}/x: cannot be read: No such file or directory"
    assert await problem(tmp_path) == f"kubeconfig {tmp_path}: cannot be read: Is a directory"
    assert await problem(binary) == f"kubeconfig {binary}: not a text in UTF-8"


async def test_what_is_wrong_inside_a_kubeconfig_is_said_with_its_path(kubeconfig: Path) -> None:
    write(kubeconfig, {"token": SECRET})

    assert await problem(kubeconfig, "other") == f'kubeconfig {kubeconfig}: no context "other", there are: main'


async def test_outside_of_a_cluster_a_kubeconfig_is_needed() -> None:
    failure = (await load_connection(environment={"KUBERNETES_SERVICE_HOST": ""})).failure()

    assert str(failure) == (
        "no kubeconfig is given, and this is no pod in a cluster:"
        " no KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT"
    )


async def test_a_pod_without_a_service_account_is_told_so(tmp_path: Path) -> None:
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    failure = (await load_connection(environment=environment, service_account=tmp_path)).failure()

    assert str(failure) == (
        f"no kubeconfig is given, and the service account in {tmp_path} is not usable:"
        " Service token file does not exist"
    )


@pytest.mark.parametrize(
    ("content", "clause"), [("\n", "file is empty"), ("two\nlines", "file holds no token")], ids=["blank", "two lines"]
)
async def test_a_pod_whose_token_is_none_is_told_so(tmp_path: Path, content: str, clause: str) -> None:
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    (tmp_path / "token").write_text(content)
    failure = (await load_connection(environment=environment, service_account=tmp_path)).failure()

    assert str(failure).endswith(f" is not usable: Service token {clause}")
