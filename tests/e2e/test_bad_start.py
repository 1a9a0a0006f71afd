"""What a process says that cannot start: lines of its log, which name field and file, nothing else, exit code 1."""

import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.control_plane.processes import free_ports
from tests.e2e.resource_manager import ResourceManager, configuration, run_command, run_here

CLOSED_PORT = 1


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    """Well-formed; nobody listens there."""
    return written(tmp_path / "kubeconfig", kubeconfig_of({"token": "secret"}))


def kubeconfig_of(user: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{CLOSED_PORT}"}}],
        "users": [{"name": "x", "user": user}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "x"}}],
        "current-context": "c",
    }


def written(file: Path, content: str | dict[str, Any]) -> Path:
    file.write_text(content if isinstance(content, str) else yaml.safe_dump(content), encoding="utf-8")
    return file


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return run_command("run", "resource-manager", *arguments, **options)


def in_this_process(file: Path) -> subprocess.CompletedProcess[str]:
    """What happens before anything is started."""
    return run_here("run", "resource-manager", "--config", str(file))


def causes(done: subprocess.CompletedProcess[str]) -> list[tuple[str, str]]:
    """Field and error of each line that says why a process has failed, which said nothing else of that weight."""
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    failed = [line for line in lines if line["level"] == "error"]
    assert (done.returncode, done.stdout, {line["msg"] for line in failed}) == (1, "", {"Process failed"})
    assert not any("stacktrace" in line for line in lines)
    return [(line.get("field", ""), line["error"]) for line in failed]


def files(done: subprocess.CompletedProcess[str]) -> set[str]:
    """Which files the last lines name."""
    return {json.loads(line).get("file", "") for line in done.stderr.splitlines()}


def test_without_a_configuration_file_there_is_nothing_to_run() -> None:
    assert causes(run()) == [("--config", "missing config file: name it by --config")]


def test_an_empty_name_of_the_file_is_a_missing_file() -> None:
    assert causes(run("--config", "")) == [("--config", "missing config file: name it by --config")]


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    absent = tmp_path / "absent.yaml"
    missing, folder = run("--config", str(absent)), run("--config", str(tmp_path))

    assert causes(missing) == [("", "the configuration cannot be read: No such file or directory")]
    assert causes(folder) == [("", "the configuration cannot be read: Is a directory")]
    assert (files(missing), files(folder)) == ({str(absent)}, {str(tmp_path)})


UNDECODABLE = {
    "no YAML": ("a:\n\tb: 1\n", ("", "line 2: tabs cannot indent YAML; use blanks")),
    "a key twice": (
        "logLevel: debug\nlogLevel: info\n",
        ("", 'line 2: the key "logLevel" appears twice in one mapping'),
    ),
    "nothing": ("", ("", "holds no document")),
    "no mapping": ("- a", ("", "expected an object, got a list")),
    "another kind": (
        {**configuration(""), "kind": "ControllerManagerConfiguration"},
        ("kind", 'expected "ResourceManagerConfiguration", got "ControllerManagerConfiguration"'),
    ),
    "a number for a flag": (
        configuration("", leaderElection={"leaderElect": 1}),
        ("leaderElection.leaderElect", "expected a boolean, got an integer: 1"),
    ),
}


@pytest.mark.parametrize(("content", "cause"), UNDECODABLE.values(), ids=UNDECODABLE.keys())
def test_a_file_that_is_no_configuration_is_not_decoded(tmp_path: Path, content: Any, cause: tuple[str, str]) -> None:
    file = written(tmp_path / "config.yaml", content)
    done = in_this_process(file)

    assert (causes(done), files(done)) == ([cause], {str(file)})


ELECTION = ("leaderElection.resourceNamespace", 'Invalid value: "": resourceNamespace is required')
LOG_LEVEL = ("logLevel", 'Unsupported value: "loud": supported values: "debug", "info", "error"')
UNLIMITED = (
    "controllers.tokenRequestor.targetNamespace",
    (
        "Required value: source and target are one cluster, in which everybody "
        "who may write a Secret would get a token of any ServiceAccount: set targetNamespace, or sourceNamespaces, or "
        "namespaces of sourceClientConnection"
    ),
)
OPERATOR = "controllers.networkPolicy.namespaceSelectors[0].matchExpressions[0].operator"
SELECTORS = [{"matchExpressions": [{"key": "team", "operator": "Is", "values": ["a"]}]}]
INVALID = {
    "one error": ({"leaderElection": {}}, [ELECTION]),
    "several errors": ({"leaderElection": {}, "logLevel": "loud"}, [ELECTION, LOG_LEVEL]),
    "an impossible election": (
        {"leaderElection": {"resourceNamespace": "garden", "leaseDuration": "5s", "renewDeadline": "10s"}},
        [
            (
                "leaderElection.leaseDuration",
                "Invalid value: 5s: LeaseDuration must be greater than RenewDeadline, which is 10s",
            )
        ],
    ),
    "another controller": (
        {"controllers": {"networkPolicy": {"enabled": True}, "node": {"enabled": True, "backoff": "0s"}}},
        [("controllers.node.backoff", "Invalid value: 0s: must be greater than zero")],
    ),
    "an unlimited token requestor": ({"controllers": {"tokenRequestor": {"enabled": True}}}, [UNLIMITED]),
    "a webhook": (
        {"webhooks": {"kubernetesServiceHost": {"enabled": True}}},
        [("webhooks.kubernetesServiceHost.host", "Required value: must specify host when webhook is enabled")],
    ),
    "a misspelt section with a limit": (
        {"server": {"webhooks": {"tsl": {"clientCAFile": "/ca.crt"}}}},
        [("server.webhooks.tsl", "Invalid value: is an unknown field; did you mean tls?")],
    ),
    "an unreadable selector": (
        {"controllers": {"networkPolicy": {"enabled": True, "namespaceSelectors": SELECTORS}}},
        [(OPERATOR, 'Invalid value: must be In, NotIn, Exists or DoesNotExist, is "Is"')],
    ),
}


@pytest.mark.parametrize(("sections", "expected"), INVALID.values(), ids=INVALID.keys())
def test_a_configuration_that_breaks_rules_is_refused_with_a_line_for_each(
    tmp_path: Path, sections: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    file = written(tmp_path / "config.yaml", configuration("", **sections))
    done = in_this_process(file)

    assert (causes(done), files(done)) == (expected, {str(file)})


def test_the_reason_is_told_in_the_format_that_the_file_asks_for_although_it_is_not_valid(tmp_path: Path) -> None:
    file = written(tmp_path / "config.yaml", configuration("", logFormat="text", logLevel="loud", lgoFormat="json"))
    done = in_this_process(file)

    odd, failed = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (1, "")
    assert odd.endswith(f"warning='{file}: lgoFormat: unknown field, ignored; did you mean logFormat?'")
    assert "[error    ] Process failed" in failed
    assert f"field=logLevel file={file}" in failed


def test_credentials_that_would_run_a_program_are_refused(tmp_path: Path) -> None:
    program = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "get-token"}}
    kubeconfig = written(tmp_path / "kubeconfig", kubeconfig_of(program))
    file = written(tmp_path / "config.yaml", configuration(kubeconfig))
    valid = "[client-certificate-data client-key-data token username password tokenFile]"
    reason = f'exec configurations are not supported (user "x"), these are the valid fields: {valid}'
    assert causes(run("--config", str(file))) == [
        ("sourceClientConnection.kubeconfig", f"kubeconfig {kubeconfig}: {reason}")
    ]


def test_a_missing_kubeconfig_is_named_whoever_names_it(tmp_path: Path, kubeconfig: Path) -> None:
    absent = tmp_path / "absent"
    reason = f"kubeconfig {absent}: cannot be read: No such file or directory"
    from_file = written(tmp_path / "from-file.yaml", configuration(absent))
    from_environment = written(tmp_path / "from-environment.yaml", configuration(kubeconfig))
    target = written(
        tmp_path / "target.yaml", configuration(kubeconfig, targetClientConnection={"kubeconfig": str(kubeconfig)})
    )

    environment = {"KUBECONFIG": str(absent)}
    assert causes(run("--config", str(from_file))) == [("sourceClientConnection.kubeconfig", reason)]
    assert causes(run("--config", str(from_environment), environment=environment)) == [("KUBECONFIG", reason)]
    environment = {"TARGET_KUBECONFIG": str(absent)}
    assert causes(run("--config", str(target), environment=environment)) == [("TARGET_KUBECONFIG", reason)]


def test_an_unlimited_token_requestor_is_refused_where_two_kubeconfigs_lead_to_one_cluster(
    tmp_path: Path, kubeconfig: Path
) -> None:
    other = written(tmp_path / "other", kubeconfig_of({"token": "another secret"}))
    sections: dict[str, Any] = {
        "targetClientConnection": {"kubeconfig": str(other)},
        "controllers": {"tokenRequestor": {"enabled": True}},
    }
    file = written(tmp_path / "config.yaml", configuration(kubeconfig, **sections))

    assert causes(run("--config", str(file))) == [UNLIMITED]


def test_outside_a_cluster_a_kubeconfig_is_needed(tmp_path: Path) -> None:
    file = written(tmp_path / "config.yaml", configuration(""))
    variables = "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT"
    reason = f"no kubeconfig is given, and this is no pod in a cluster: no {variables}"
    assert causes(run("--config", str(file))) == [("sourceClientConnection.kubeconfig", reason)]


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


@pytest.mark.parametrize(
    ("endpoint", "purpose"), [("healthProbes", "health probes"), ("metrics", "metrics")], ids=["probes", "metrics"]
)
def test_a_port_in_use_is_named(tmp_path: Path, kubeconfig: Path, taken_port: int, endpoint: str, purpose: str) -> None:
    ports = dict(zip(("healthProbes", "metrics"), free_ports(2), strict=True)) | {endpoint: taken_port}
    server = {each: {"bindAddress": "127.0.0.1", "port": port} for each, port in ports.items()}
    file = written(tmp_path / "config.yaml", configuration(kubeconfig, server=server))
    reason = f"server.{endpoint}: cannot listen on 127.0.0.1:{taken_port} for {purpose}: address already in use"
    assert causes(run("--config", str(file))) == [(f"server.{endpoint}.port", reason)]


def test_a_port_that_there_is_not_is_not_taken_for_another(tmp_path: Path, kubeconfig: Path) -> None:
    server = {
        "healthProbes": {"bindAddress": "127.0.0.1", "port": free_ports(1)[0]},
        "metrics": {"bindAddress": "127.0.0.1", "port": 99999},
    }
    file = written(tmp_path / "config.yaml", configuration(kubeconfig, server=server))
    assert causes(in_this_process(file)) == [
        ("server.metrics.port", "Invalid value: 99999: must be between 1 and 65535")
    ]


def test_a_wrong_command_line_is_told_in_the_log_as_well(tmp_path: Path) -> None:
    assert causes(run("now", "--config", str(tmp_path))) == [("", "Got unexpected extra argument (now)")]
    (cause,) = causes(run_command("run", "resource-manger"))
    assert cause[1].startswith("Invalid value for 'COMPONENT': 'resource-manger' is not one of")


def test_a_missing_helm_is_told_at_the_start_and_the_process_goes_on(tmp_path: Path, kubeconfig: Path) -> None:
    absent = str(tmp_path / "helm")
    config = {
        "apiVersion": "seedextensions.config.gardener.cloud/v1alpha1",
        "kind": "SeedExtensionsConfiguration",
        "sourceClientConnection": {"kubeconfig": str(kubeconfig)},
        "leaderElection": {"leaderElect": False},
        "seedConfig": {"metadata": {"name": "seed"}},
        "helm": {"binary": absent},
    }

    class SeedExtensions(ResourceManager):
        component = "seed-extensions"

    with SeedExtensions(tmp_path, config) as process:
        line = process.wait_for_line("Charts cannot be rendered")
        assert (line["field"], line["error"]) == ("helm.binary", f"{absent} is not installed, or not executable")
        assert process.terminate() == 0
