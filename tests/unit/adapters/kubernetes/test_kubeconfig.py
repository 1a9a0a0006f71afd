"""What a kubeconfig may hold, and what a context of it names."""

from typing import Any

import pytest
import yaml

from hedgerow_adapters.kubernetes.credentials import UnusableError
from hedgerow_adapters.kubernetes.kubeconfig import Selection, parsed_kubeconfig, selected

VALID = "these are the valid fields: [client-certificate-data client-key-data token username password tokenFile]"
SECRET = "s3cr3t"  # noqa: S105 -- looked for in messages


def entries(section: str, **values: Any) -> list[dict[str, Any]]:
    return [{"name": name, section: value} for name, value in values.items()]


def document(**changes: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": entries("cluster", garden={"server": "https://garden.example.com:6443"}),
        "users": entries("user", operator={"token": SECRET}),
        "contexts": entries("context", main={"cluster": "garden", "user": "operator"}, other={"cluster": "garden"}),
        "current-context": "main",
        **changes,
    }


def with_user(**fields: Any) -> dict[str, Any]:
    return document(users=entries("user", operator={"token": SECRET}, x=fields))


def with_cluster(**fields: Any) -> dict[str, Any]:
    return document(clusters=entries("cluster", garden={"server": "https://garden.example.com", **fields}))


def problem_of(content: dict[str, Any], context: str = "") -> str:
    with pytest.raises(UnusableError) as raised:
        selected(parsed_kubeconfig(yaml.safe_dump(content)), context)
    assert SECRET not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"client-certificate": "/tls.crt"}, "client certificate files"),
        ({"client-key": "/tls.key"}, "client key files"),
        ({"as": "admin"}, "impersonation configurations"),
        ({"as-uid": "1"}, "impersonation configurations"),
        ({"as-groups": ["system:masters"]}, "impersonation configurations"),
        ({"as-user-extra": {"scopes": ["all"]}}, "impersonation configurations"),
        ({"auth-provider": {"name": "oidc", "config": {}}}, "auth provider configurations"),
        ({"exec": {"command": "aws", "apiVersion": "client.authentication.k8s.io/v1"}}, "exec configurations"),
        ({"token": SECRET, "exec": {"command": "aws"}}, "exec configurations"),
    ],
    ids=lambda value: " and ".join(value) if isinstance(value, dict) else "",
)
def test_whatever_runs_programs_reads_keys_or_speaks_for_others_is_refused(fields: dict[str, Any], what: str) -> None:
    assert problem_of(with_user(**fields)) == f'{what} are not supported (user "x"), {VALID}'


def test_embedded_credentials_and_token_files_are_allowed() -> None:
    user = {
        "client-certificate-data": "Zm9v",
        "client-key-data": "YmFy",
        "token": SECRET,
        "username": "u",
        "password": SECRET,
        "tokenFile": "token",
    }
    content = document(users=entries("user", operator=user))

    assert parsed_kubeconfig(yaml.safe_dump(content)) == content


def test_refused_fields_that_are_empty_do_no_harm() -> None:
    content = with_user(exec=None, **{"client-key": "", "as-groups": []})

    assert parsed_kubeconfig(yaml.safe_dump(content)) == content


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(f"token: {SECRET}\n\t- {SECRET}", "not YAML: line 2, column 1", id="no yaml"),
        pytest.param(f"token: !!python/name:os.{SECRET}", "not YAML: line 1, column 8", id="a tag"),
        pytest.param("a: !!timestamp x", "not YAML", id="a time that is none"),
        pytest.param("[" * 3000, "nested too deeply", id="nested"),
        pytest.param("", "not a kubeconfig, which is a mapping", id="empty"),
        pytest.param(SECRET, "not a kubeconfig, which is a mapping", id="a text"),
    ],
)
def test_what_is_no_mapping_in_yaml_is_no_kubeconfig(text: str, problem: str) -> None:
    with pytest.raises(UnusableError) as raised:
        parsed_kubeconfig(text)

    assert str(raised.value) == problem


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (document(kind="Secret"), "kind is Secret, not Config"),
        (document(users={"operator": {"token": SECRET}}), "users is not a list of entries with name and user"),
        (document(users=[{"user": {"token": SECRET}}]), "users is not a list of entries with name and user"),
        (document(users=entries("user", x=SECRET)), "users is not a list of entries with name and user"),
        (document(clusters=document()["clusters"] * 2), 'clusters has "garden" twice'),
        (document(contexts=None), 'no context "main", there are none'),
        (document(**{"current-context": ""}), "no current-context, there are: main, other"),
        (document(**{"current-context": [1]}), "current-context is not a text"),
        (with_user(token=12345), 'token of user "x" is not a text'),
        (with_user(token=f"{SECRET}\n"), 'token of user "x" has a line break or another control character'),
        (document(clusters=[]), 'context "main" names cluster "garden", which is not there'),
        (document(users=[]), 'context "main" names user "operator", which is not there'),
        (
            document(users=entries("user", operator={"client-key-data": SECRET})),
            'user "operator" has only one of client-certificate-data and client-key-data',
        ),
        (with_cluster(**{"proxy-url": "http://proxy"}), 'proxy-url of cluster "garden" is not supported'),
        (
            with_cluster(**{"insecure-skip-tls-verify": "yes"}),
            'insecure-skip-tls-verify of cluster "garden" is neither true nor false',
        ),
        (with_cluster(**{"tls-server-name": 7}), 'tls-server-name of cluster "garden" is not a text'),
        (with_cluster(**{"tls-server-name": "a..b"}), 'tls-server-name of cluster "garden" is not a host name'),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_kubeconfig_that_cannot_be_used_says_why_in_one_clause(content: dict[str, Any], problem: str) -> None:
    assert problem_of(content) == problem


@pytest.mark.parametrize(
    "server",
    [
        "",
        "garden.example.com",
        "ftp://garden",
        "https://",
        f"https://me:{SECRET}@garden",
        "https://g:99999",
        pytest.param("https://a..b", id="a part of the host is missing"),
        pytest.param(f"https://{'a' * 300}", id="a part of the host is too long"),
        pytest.param(f"https://{'a.' * 127}a", id="the host is too long"),
    ],
)
def test_a_server_is_a_url_without_credentials(server: str) -> None:
    assert problem_of(with_cluster(server=server)) == (
        'server of cluster "garden" is not a URL with http or https and a host, and without credentials'
    )


@pytest.mark.parametrize(
    "host", ["localhost", "10.0.0.1", "[fd00::1]:6443", "api.garden.", "gärten.example.com", "a_b"]
)
def test_a_server_is_an_address_or_any_name_that_can_be_looked_up(host: str) -> None:
    content = with_cluster(server=f"https://{host}")

    assert selected(content).cluster["server"] == f"https://{host}"


def test_a_context_that_is_not_there_is_answered_with_those_that_are() -> None:
    assert problem_of(document(), context="mian") == 'no context "mian", there are: main, other'


def test_a_context_names_a_cluster_and_a_user() -> None:
    cluster = {"server": "https://garden.example.com:6443"}

    assert selected(document()) == Selection("main", "garden", cluster, "operator", {"token": SECRET})


def test_a_context_without_a_user_is_anonymous() -> None:
    cluster = {"server": "https://garden.example.com:6443"}

    assert selected(document(), "other") == Selection("other", "garden", cluster, "", {})


def test_a_selection_shows_no_credentials() -> None:
    assert SECRET not in repr(selected(document()))
