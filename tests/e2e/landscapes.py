"""A landscape with every kind of annotation, as large as a test wants it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from tests.e2e.resource_manager import run_here
from tests.e2e.sandbox import LABEL, Manifest, Sandbox, ingress, service

TCP: Final = "TCP"
INGRESS_PODS: Final = {
    "matchLabels": {"app": "nginx"},
    "matchExpressions": [{"key": "old", "operator": "DoesNotExist"}],
}


def landscape(sandbox: Sandbox, *, shoots: int) -> list[Manifest]:
    """Namespaces first: a garden, an ingress gateway, and shoots with five Services each."""
    names = ["garden", "istio", *(f"shoot-{number}" for number in range(1, shoots + 1))]
    namespaces = [sandbox.namespace_manifest(name, role=name.partition("-")[0]) for name in names]
    full = [namespace["metadata"]["name"] for namespace in namespaces]
    return [
        *namespaces,
        *_garden(sandbox, full[0]),
        *_gateway(full[1]),
        *(each for name in full[2:] for each in _shoot(sandbox, name)),
    ]


def offline_settings(sandbox: Sandbox, **settings: Any) -> Manifest:
    """What `controllers.networkPolicy` says in this landscape."""
    selector = {"namespace": f"{sandbox.prefix}-garden", "podSelector": INGRESS_PODS}
    return {"ingressControllerSelector": selector, **settings}


def written(manifests: list[Manifest], folder: Path) -> Path:
    """A file with manifests."""
    file = folder / "landscape.yaml"
    file.write_text(yaml.safe_dump_all(manifests), encoding="utf-8")
    return file


def simulated(sandbox: Sandbox, manifests: list[Manifest], config_file: Path) -> dict[str, Manifest]:
    """What the same controller with the same configuration makes of these manifests without a cluster."""
    file = written(manifests, sandbox.folder)
    done = run_here("simulate", "networkpolicy", "-f", str(file), "--config", str(config_file), "-o", "json")
    assert done.returncode == 0, done.stderr
    return sandbox.by_short_name(json.loads(done.stdout)["items"])


def _garden(sandbox: Sandbox, garden: str) -> Iterator[Manifest]:
    shoots = _selector(sandbox, "shoot")
    yield service(
        garden,
        "monitoring",
        {"name": "web", "port": 80, "targetPort": 9090, "protocol": TCP},
        {"name": "gossip", "port": 9094, "targetPort": "gossip", "protocol": "UDP"},
        annotations={
            "namespace-selectors": f"[{shoots}]",
            "from-world-to-ports": '[{"port": "9090", "protocol": "TCP"}]',
        },
    )
    yield service(garden, "console", {"port": 443, "protocol": TCP, "targetPort": 8443})
    yield ingress(garden, "console", "console", 443)


def _gateway(gateway: str) -> Iterator[Manifest]:
    ports = '[{"port": 8132}, {"protocol": "UDP"}, {"port": 9000, "endPort": 9010, "protocol": "TCP"}]'
    yield service(gateway, "gateway", clusterIP="", type="ClusterIP", annotations={"from-world-to-ports": ports})
    yield service(gateway, "open", annotations={"from-world-to-ports": "[]"})


def _shoot(sandbox: Sandbox, shoot: str) -> Iterator[Manifest]:
    expression = f'{{"matchExpressions": [{{"key": "role", "operator": "In", "values": ["garden"]}}, {_of(sandbox)}]}}'
    yield service(
        shoot,
        "kube-apiserver",
        {"port": 443, "targetPort": 6443, "protocol": TCP},
        annotations={
            "namespace-selectors": f"[{_selector(sandbox, 'istio')}, {expression}]",
            "pod-label-selector-namespace-alias": "all-shoots",
        },
    )
    yield service(
        shoot,
        "etcd",
        {"port": 2379, "targetPort": 2379, "protocol": TCP},
        annotations={
            "from-all-scrape-targets-allowed-ports": '[{"port": 2379}, {"port": "metrics", "protocol": "UDP"}]',
            "from-backup-allowed-ports": '[{"port": 8080}]',
            "namespace-selectors": f"[{_selector(sandbox, 'garden')}]",
        },
    )
    yield service(shoot, "dashboard", {"name": "web", "port": 80, "targetPort": "http", "protocol": TCP})
    yield ingress(shoot, "dashboard", "dashboard", "web")
    yield service(
        shoot,
        "a-name-so-long-that-the-label-for-other-namespaces-is-shortened",
        {"port": 5, "protocol": "SCTP"},
        annotations={"namespace-selectors": f"[{_selector(sandbox, 'istio')}]"},
    )
    without_pods = service(shoot, "without-pods")
    del without_pods["spec"]["selector"]
    yield without_pods


def _selector(sandbox: Sandbox, role: str) -> str:
    return f'{{"matchLabels": {{"{LABEL}": "{sandbox.prefix}", "role": "{role}"}}}}'


def _of(sandbox: Sandbox) -> str:
    return f'{{"key": "{LABEL}", "operator": "In", "values": ["{sandbox.prefix}"]}}'
