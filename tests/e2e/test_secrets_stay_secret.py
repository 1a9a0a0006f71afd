"""Nothing secret is told: not in a log, an event, a metric, a probe, an error, nor on the command line.

Every Secret of the cluster and every credential holds a text that is nowhere else; then it is looked for everywhere,
after sessions in which the server repeats the credentials that it refuses.
"""

import base64
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from hedgerow_entrypoints.cli.plan import NOT_TRIED
from tests.e2e.canaries import Canaries
from tests.e2e.gateways import REFUSALS, EchoingGateway
from tests.e2e.resource_manager import ResourceManager, run_command, run_here
from tests.e2e.sandbox import Manifest, Sandbox, pair, service

BROKEN: Final = {"namespace-selectors": "nonsense"}
REDACTED: Final = "[redacted]"


@pytest.fixture
def canaries(sandbox: Sandbox) -> Canaries:
    """With one in a Secret of every namespace that there is."""
    canaries = Canaries()
    sandbox.namespace("shop")
    for namespace in sandbox.namespaces:
        manifest = {"metadata": {"name": "top"}, "stringData": {"key": canaries.new(f"a Secret in {namespace}")}}
        sandbox.control_plane.request("POST", f"/api/v1/namespaces/{namespace}/secrets", manifest)
    return canaries


def user_with(way: str, canaries: Canaries, folder: Path) -> Manifest:
    """What a kubeconfig says of a user who shows a secret in one of the ways that there are."""
    match way:
        case "password":
            return {"username": "me", "password": canaries.new(way)}
        case "token file":
            (folder / "token").write_text(canaries.new(way), encoding="utf-8")
            return {"tokenFile": "token"}
        case _:
            return {"token": canaries.new("token")}


def kubeconfig_of(folder: Path, cluster: Mapping[str, Any] | str, user: Mapping[str, Any]) -> Path:
    """A file that leads to a cluster, or to a URL, as a user."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "here", "cluster": {"server": cluster} if isinstance(cluster, str) else cluster}],
        "users": [{"name": "me", "user": user}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "current-context": "here",
    }
    file = folder / "secret.kubeconfig"
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    return file


def direct(sandbox: Sandbox) -> tuple[Manifest, str]:
    """The cluster and the token of the sandbox's own kubeconfig."""
    document = yaml.safe_load(sandbox.kubeconfig.read_text(encoding="utf-8"))
    return document["clusters"][0]["cluster"], document["users"][0]["user"]["token"]


@pytest.mark.parametrize(
    ("way", "log_format"), [("token", "json"), ("token file", "text"), ("password", "json"), ("password", "text")]
)
def test_a_session_with_a_server_that_repeats_credentials_tells_none(
    sandbox: Sandbox, canaries: Canaries, way: str, log_format: str
) -> None:
    shop = f"{sandbox.prefix}-shop"
    _, token = direct(sandbox)
    canaries.known("the token behind the server", token)
    # An event that is refused is not sent again, and so there are enough.
    tills = [service(shop, f"till-{number}", annotations=BROKEN) for number in range(8)]
    sandbox.create(service(shop, "cart"), *tills)
    with EchoingGateway(sandbox.control_plane, token, every=4) as gateway:
        kubeconfig = kubeconfig_of(sandbox.folder, gateway.url, user_with(way, canaries, sandbox.folder))
        config = sandbox.configuration(
            leaderElection={"leaderElect": True, "resourceNamespace": sandbox.home, "retryPeriod": "200ms"},
            logLevel="debug",
            logFormat=log_format,
        )
        config["sourceClientConnection"] = {"kubeconfig": str(kubeconfig)}
        with ResourceManager(sandbox.folder, config) as process:
            sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
            process.wait_for(lambda: REDACTED in process.output(), "has not been told its credentials")
            process.wait_for(lambda: gateway.refused.keys() == REFUSALS.keys(), "has not been refused in every way")
            process.wait_for(lambda: "Warning" in types_of_events(sandbox), "has recorded no warning")
            told = [process.metrics(), *command_line_of(process)]
            told += [
                process.probe(f"{path}?verbose")[1] for path in ("/healthz", "/readyz", "/healthz/apiserver-healthz")
            ]
            assert process.terminate() == 0

    stored = [sandbox.objects(kind) for kind in ("Event", "Lease", "NetworkPolicy")]
    assert canaries.seen_in([process.output(), *told, json.dumps(stored)]) == set()
    assert [event for event in sandbox.control_plane.audit_events(sandbox.user) if reads_a_secret(event)] == []


def types_of_events(sandbox: Sandbox) -> set[str]:
    return {event["type"] for event in sandbox.objects("Event").values()}


def command_line_of(process: ResourceManager) -> list[str]:
    """What everybody on its machine can read of it."""
    return Path(f"/proc/{process.pid}/cmdline").read_text(encoding="utf-8").split("\0")


def reads_a_secret(event: Manifest) -> bool:
    """Whether it asks for one as a whole; which Secrets there are is listed and watched by their metadata alone."""
    return event.get("objectRef", {}).get("resource") == "secrets" and event["verb"] not in {"list", "watch"}


def test_plan_that_is_refused_by_a_server_that_repeats_credentials_tells_none(
    sandbox: Sandbox, canaries: Canaries
) -> None:
    _, token = direct(sandbox)
    with EchoingGateway(sandbox.control_plane, token, every=1) as gateway:
        kubeconfig = kubeconfig_of(sandbox.folder, gateway.url, user_with("password", canaries, sandbox.folder))
        refusals = [run_here("plan", "networkpolicy", "--kubeconfig", str(kubeconfig)) for _ in REFUSALS]

    assert {done.returncode for done in refusals} == {1}
    assert sum(REDACTED in done.stderr for done in refusals) >= len(REFUSALS) - 2
    assert canaries.seen_in(done.stdout + done.stderr for done in refusals) == set()


def new_key(folder: Path, canaries: Canaries) -> tuple[bytes, bytes]:
    """A client certificate and its key, every line of which is a secret."""
    key, certificate = folder / "client.key", folder / "client.crt"
    making = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=me", "-days", "2")
    subprocess.run(
        ["openssl", "req", "-x509", *making, "-keyout", key, "-out", certificate], check=True, capture_output=True
    )
    for number, line in enumerate(key.read_text(encoding="ascii").splitlines()[1:-1]):
        canaries.known(f"client key, line {number + 1}", line)
    return certificate.read_bytes(), key.read_bytes()


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def test_what_plan_and_simulate_print_holds_no_credential(sandbox: Sandbox, canaries: Canaries, tmp_path: Path) -> None:
    cluster, token = direct(sandbox)
    certificate, key = new_key(tmp_path, canaries)
    sandbox.create(service(f"{sandbox.prefix}-shop", "cart"))
    user = {
        "token": canaries.known("token", token),
        "client-certificate-data": encoded(certificate),
        "client-key-data": encoded(key),
    }
    kubeconfig = kubeconfig_of(tmp_path, cluster, user)
    config = tmp_path / "config.yaml"
    config.write_text(
        yaml.safe_dump({**sandbox.configuration(), "sourceClientConnection": {"kubeconfig": str(kubeconfig)}})
    )

    planned = run_command("plan", "networkpolicy", "--kubeconfig", str(kubeconfig), "--config", str(config))
    simulated = run_command("simulate", "networkpolicy", "-f", str(config), "--config", str(config))
    checked = run_command("config", "check", str(config))

    assert (planned.returncode, planned.stderr) == (2, f"{NOT_TRIED}\n2 to create\n")
    assert checked.returncode == 0
    assert canaries.seen_in(each.stdout + each.stderr for each in (planned, simulated, checked)) == set()


UNREADABLE: Final = {
    "no YAML": 'users: [{{name: me, user: {{token: "{secret}',
    "no mapping": "{secret}",
    "a tab": "token:\t- {secret}\n\t- b",
    "a section that is a text": "users: {secret}",
    "a user that is a text": "users: [{{name: me, user: {secret}}}]",
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_an_unreadable_kubeconfig_is_not_quoted(tmp_path: Path, text: str) -> None:
    canaries = Canaries()
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(text.format(secret=canaries.new("the file")), encoding="utf-8")

    assert_refused_without_canaries(kubeconfig, canaries)


@pytest.mark.parametrize(
    ("cluster", "user"),
    [
        pytest.param({}, {"token": "{secret}\n"}, id="a line break in a token"),
        pytest.param({}, {"token": ["{secret}"]}, id="a token that is a list"),
        pytest.param({}, {"username": "me", "password": {"is": "{secret}"}}, id="a password that is a mapping"),
        pytest.param({}, {"token": "{secret}", "tokenFile": "absent"}, id="a token beside a missing file"),
        pytest.param({"server": "https://me:{secret}@127.0.0.1:1"}, {}, id="a URL with a password"),
        pytest.param({}, {"token": "{secret}"}, id="nobody listens"),
        pytest.param({}, {"exec": {"command": "x", "env": [{"name": "T", "value": "{secret}"}]}}, id="a program"),
        pytest.param({}, {"auth-provider": {"name": "oidc", "config": {"t": "{secret}"}}}, id="a provider"),
        pytest.param(
            {}, {"client-certificate-data": "{secret}", "client-key-data": "{secret}"}, id="a key that is no base64"
        ),
        pytest.param(
            {},
            {"client-certificate-data": encoded(b"-----BEGIN"), "client-key-data": encoded(b"-----BEGIN {secret}")},
            id="a key that is no PEM",
        ),
    ],
)
def test_an_unusable_kubeconfig_is_not_quoted(tmp_path: Path, cluster: Manifest, user: Manifest) -> None:
    canaries = Canaries()
    secret = canaries.new("the kubeconfig")
    in_base64 = encoded(b"-----BEGIN {secret}"), encoded(f"-----BEGIN {secret}".encode())
    kubeconfig = kubeconfig_of(tmp_path, {"server": "https://127.0.0.1:1", **cluster}, user)
    text = kubeconfig.read_text(encoding="utf-8").replace(*in_base64).replace("{secret}", secret)
    kubeconfig.write_text(text, encoding="utf-8")

    assert_refused_without_canaries(kubeconfig, canaries)


def assert_refused_without_canaries(kubeconfig: Path, canaries: Canaries) -> None:
    done = run_here("plan", "networkpolicy", "--kubeconfig", str(kubeconfig))

    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" not in done.stderr
    assert canaries.seen_in([done.stderr]) == set()
