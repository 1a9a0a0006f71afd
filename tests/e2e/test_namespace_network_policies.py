"""The Namespace NetworkPolicy controller against a real API server, allowed no more than it declares."""

import asyncio
import http.client
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from hedgerow.api.gardener import CLUSTERS, GARDENS
from hedgerow.machinery.clusters import READ
from hedgerow.operator.namespace_network_policies import (
    NamespacePolicyConfig,
    RuntimeNetworks,
    namespace_network_policy_controller,
)
from hedgerow.operator.namespace_network_policies.views import Resolved
from hedgerow_adapters.kubernetes.connection_files import load_connection
from hedgerow_adapters.kubernetes.http_transport import HttpTransport
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.resolving import Endpoint, HostResolver
from hedgerow_adapters.runtime.caches import Caches
from hedgerow_adapters.runtime.clusters import Access, Clusters
from hedgerow_adapters.runtime.events import EventRecorder
from hedgerow_adapters.runtime.runner import ControllerRunner
from tests.control_plane import PATIENCE, ControlPlane
from tests.e2e.resource_manager import run_command, run_here

USER = "hedgerow"
WRITES = ("create", "update", "patch", "delete", "deletecollection")
CONFIG = NamespacePolicyConfig(RuntimeNetworks("10.0.0.0/16", "10.1.0.0/16", "10.2.0.0/16", ("169.254.169.254/32",)))
SHOOT = "shoot--foo--bar"
ROLES = {"garden": "", "istio-system": "istio-system", "extension-x": "extension", SHOOT: "shoot", "plain": ""}
EVERYWHERE = {"deny-all", "allow-to-dns", "allow-to-runtime-apiserver"}
WORKLOADS = EVERYWHERE | {f"allow-to-{name}" for name in ("public-networks", "private-networks", "blocked-cidrs")}
POLICIES = {
    "garden": WORKLOADS,
    "istio-system": EVERYWHERE,
    "extension-x": WORKLOADS,
    SHOOT: WORKLOADS | {"allow-to-shoot-networks"},
    "plain": set[str](),
}
NETWORKING = {"nodes": "172.16.0.0/18", "pods": "10.150.0.0/16", "services": "192.168.0.0/17"}
SUBSET = {
    "addresses": [{"ip": "10.2.0.5"}, {"ip": "10.2.0.6"}],
    "ports": [{"name": "https", "port": 6443, "protocol": "TCP"}],
}
GARDEN = {
    "apiVersion": GARDENS.api_version,
    "kind": "Garden",
    "metadata": {"name": "garden"},
    "spec": {
        "runtimeCluster": {
            "networking": {
                "pods": "10.0.0.0/16",
                "services": "10.1.0.0/16",
                "nodes": "10.2.0.0/16",
                "blockCIDRs": ["169.254.169.254/32"],
            }
        }
    },
}


class Seed:
    """The runtime cluster, as its users change it."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self.control_plane = control_plane

    def send(self, method: str, path: str, body: Any = None, *, expected: int = http.client.OK) -> Any:
        status, answer = self.control_plane.request(method, path, body)
        assert status == expected, answer
        return answer

    def create(self, path: str, body: Any) -> None:
        self.send("POST", path, body, expected=http.client.CREATED)

    def define(self, *resources: Any) -> None:
        """Have custom resources served that may hold anything."""
        for resource in resources:
            schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
            version = {"name": resource.version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
            names = {"plural": resource.plural, "kind": resource.kind}
            spec = {"group": resource.group, "scope": "Cluster", "names": names, "versions": [version]}
            definition = {"metadata": {"name": str(resource)}, "spec": spec}
            self.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
            self.control_plane.kubectl("wait", "--for=condition=Established", f"crd/{resource}")

    def policies(self, namespace: str) -> dict[str, Any]:
        """The specs of the policies in a namespace, by name."""
        items = self.send("GET", f"/apis/networking.k8s.io/v1/namespaces/{namespace}/networkpolicies")["items"]
        return {item["metadata"]["name"]: item["spec"] for item in items}

    def names(self) -> dict[str, set[str]]:
        return {namespace: {*self.policies(namespace)} for namespace in ROLES}

    def blocks(self, namespace: str, policy: str) -> list[Any]:
        """The ranges of addresses that a policy opens; none of one that is not there."""
        rules = self.policies(namespace).get(policy, {}).get("egress", [])
        return [peer["ipBlock"] for rule in rules for peer in rule["to"] if "ipBlock" in peer]

    def writes(self, since: int) -> list[str]:
        """What the controller has written, but for events."""
        events = self.control_plane.audit_events(USER, since=since, verbs=WRITES)
        return [event["requestURI"] for event in events if event["objectRef"]["resource"] != "events"]


@pytest.fixture(scope="module")
def seed(servers: Path) -> Iterator[Seed]:
    """A cluster of its own: its namespaces have the labels that the controller looks for."""
    with ControlPlane() as control_plane:
        seed = Seed(control_plane)
        for name, role in ROLES.items():
            labels = {"gardener.cloud/role": role} if role else {}
            seed.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
        allow(seed)
        seed.define(CLUSTERS)
        # An API server at a loopback address does not publish where it is.
        seed.create("/api/v1/namespaces/default/endpoints", {"metadata": {"name": "kubernetes"}, "subsets": [SUBSET]})
        yield seed


def allow(seed: Seed) -> None:
    """Let the user do what the controller declares, record events, and nothing else."""
    controller = namespace_network_policy_controller(CONFIG)
    rules = [
        {"apiGroups": [watch.resource.group], "resources": [watch.resource.plural], "verbs": [*READ]}
        for watch in controller.watches
    ]
    rules += [
        {"apiGroups": [each.group], "resources": [each.plural], "verbs": [*each.verbs]}
        for each in controller.permissions
    ]
    rules.append({"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create"]})
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    seed.create(f"{rbac}/clusterroles", {"metadata": {"name": USER}, "rules": rules})
    binding = {
        "metadata": {"name": USER},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": USER},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER}],
    }
    seed.create(f"{rbac}/clusterrolebindings", binding)


@asynccontextmanager
async def at_work(seed: Seed, config: NamespacePolicyConfig = CONFIG) -> AsyncIterator[ControllerRunner]:
    """The controller at work, as the user who may do just that."""
    connection = (await load_connection(seed.control_plane.kubeconfig(USER))).unwrap()
    async with HttpTransport(connection) as transport:
        caches = Caches(Clusters.single(Access(transport)), random=random.random)
        recorder = EventRecorder(transport, component="networkpolicy", instance="one", may_write=lambda: True)
        runner = ControllerRunner(namespace_network_policy_controller(config), caches, recorder=recorder)
        tasks = [asyncio.create_task(work) for work in (caches.run(), runner.run(), recorder.run())]
        runner.start()
        try:
            await asyncio.wait_for(runner.synced.wait(), PATIENCE)
            yield runner
        finally:
            await runner.drain(5)
            await recorder.emptied()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def comes_true(condition: Callable[[], object]) -> None:
    """Return once a condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not await asyncio.to_thread(condition):  # noqa: ASYNC110 -- what others store is no event of ours
            await asyncio.sleep(0.05)


def cluster(networking: dict[str, str]) -> dict[str, Any]:
    shoot = {"spec": {"networking": networking, "provider": {"workers": [{"name": "worker"}]}}}
    return {
        "apiVersion": CLUSTERS.api_version,
        "kind": CLUSTERS.kind,
        "metadata": {"name": SHOOT},
        "spec": {"cloudProfile": {}, "seed": {}, "shoot": shoot},
    }


async def test_from_an_empty_cluster_through_its_changes_to_rest(seed: Seed, tmp_path: Path) -> None:
    policies = "/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies"
    foreign = {"metadata": {"name": "deny-all"}, "spec": {"podSelector": {}, "policyTypes": ["Ingress"]}}
    seed.create(policies.format("plain"), foreign)

    async with at_work(seed) as runner:
        # Two policies wait for the shoot, all others are there.
        missing = {"allow-to-private-networks", "allow-to-shoot-networks"}
        foreign_and_ours = {**POLICIES, "plain": {"deny-all"}}
        await comes_true(lambda: seed.names() == {**foreign_and_ours, SHOOT: POLICIES[SHOOT] - missing})

        # The next attempts find it.
        seed.create(requests.collection_path(CLUSTERS), cluster(NETWORKING))
        await comes_true(lambda: seed.names() == foreign_and_ours)
        assert seed.blocks(SHOOT, "allow-to-shoot-networks") == [
            {"cidr": "172.16.0.0/18"},
            {"cidr": "10.150.0.0/16"},
            {"cidr": "192.168.0.0/17"},
        ]
        assert seed.policies("garden")["allow-to-runtime-apiserver"]["egress"] == [
            {
                "to": [{"ipBlock": {"cidr": "10.2.0.5/32"}}, {"ipBlock": {"cidr": "10.2.0.6/32"}}],
                "ports": [{"protocol": "TCP", "port": 6443}],
            }
        ]

        # Edits are put right, and a deleted policy comes back.
        spec: dict[str, Any] = {"spec": {"egress": [{}]}}
        seed.send("PATCH", f"{policies.format('garden')}/allow-to-dns", spec)
        seed.send("DELETE", f"{policies.format('garden')}/deny-all")
        await comes_true(lambda: seed.names() == foreign_and_ours)
        await comes_true(lambda: seed.blocks("garden", "allow-to-dns")[0] == {"cidr": "10.1.0.10/32"})

        # Other networks of the shoot, of the cluster, another address of the API server.
        path = f"{requests.collection_path(CLUSTERS)}/{SHOOT}"
        seed.send("PATCH", path, cluster({**NETWORKING, "pods": "10.151.0.0/16"}))
        await comes_true(lambda: {"cidr": "10.151.0.0/16"} in seed.blocks(SHOOT, "allow-to-shoot-networks"))
        blocking = replace(CONFIG, networks=replace(CONFIG.networks, block_cidrs=("172.16.5.0/24", "fd00::/8")))
        runner.reconfigure(blocking)
        await comes_true(
            lambda: (
                seed.blocks(SHOOT, "allow-to-shoot-networks")[0]
                == {"cidr": "172.16.0.0/18", "except": ["172.16.5.0/24"]}
            )
        )

        async def addresses(_host: str) -> list[str]:
            return ["1.2.3.4"]

        resolver = HostResolver(
            Endpoint("api.example.com", 443),
            on_change=lambda resolved: runner.reconfigure(replace(blocking, resolved=resolved)),
            on_problem=pytest.fail,
            lookup=addresses,
        )
        resolving = asyncio.create_task(resolver.run())
        await comes_true(
            lambda: seed.blocks("istio-system", "allow-to-runtime-apiserver")[-1:] == [{"cidr": "1.2.3.4/32"}]
        )
        resolving.cancel()

        # Without its role a namespace keeps nothing of ours, and the policy of somebody else stays.
        seed.send("PATCH", "/api/v1/namespaces/extension-x", {"metadata": {"labels": {"gardener.cloud/role": None}}})
        await comes_true(lambda: seed.names() == {**foreign_and_ours, "extension-x": set()})
        assert seed.policies("plain")["deny-all"] == foreign["spec"]
        await comes_true(
            lambda: (
                [
                    event["regarding"]["kind"]
                    for event in seed.send("GET", "/apis/events.k8s.io/v1/namespaces/plain/events")["items"]
                    if event["reason"] == "ForeignNetworkPolicy"
                ]
                == ["NetworkPolicy"]
            )
        )

        runner.reconfigure(CONFIG)
        await comes_true(lambda: seed.blocks(SHOOT, "allow-to-blocked-cidrs") == [{"cidr": "169.254.169.254/32"}])
        await comes_true(lambda: runner.queue.idle)

    # Who starts where everything is in order writes nothing, and neither is anything left to plan.
    position = seed.control_plane.audit_position()
    async with at_work(seed) as runner:
        await comes_true(lambda: runner.queue.idle)
    assert seed.writes(position) == []
    assert refused(seed) == []
    plan_shows_nothing_to_do(seed, tmp_path)


def refused(seed: Seed) -> list[str]:
    """What the controller wanted and was not allowed to."""
    return [
        f"{event['verb']} {event['requestURI']}"
        for event in seed.control_plane.audit_events(USER)
        if event.get("responseStatus", {}).get("code") == http.client.FORBIDDEN
    ]


def plan_shows_nothing_to_do(seed: Seed, folder: Path) -> None:
    """The offline command comes to the same, be it before the cluster or before files, once there is a Garden."""
    live = ("plan", "operator/networkpolicy", "--kubeconfig", str(seed.control_plane.kubeconfig()))
    without = run_command(*live)
    assert (without.returncode, without.stdout) == (1, "")
    assert "Garden (operator.gardener.cloud/v1alpha1), and there is none" in without.stderr

    seed.define(GARDENS)
    seed.create(requests.collection_path(GARDENS), GARDEN)
    done = run_command(*live)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "nothing to do\n")

    kinds = "namespaces,endpoints,networkpolicies,clusters.extensions.gardener.cloud,gardens.operator.gardener.cloud"
    file = folder / "all.yaml"
    file.write_text(seed.control_plane.kubectl("get", kinds, "-A", "-o", "yaml"), encoding="utf-8")
    done = run_command("plan", "operator/networkpolicy", "-f", str(file))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "nothing to do\n")


async def test_until_the_api_server_is_resolved_what_leads_to_it_stays_as_it_is(seed: Seed) -> None:
    async with at_work(seed) as runner:
        await comes_true(lambda: seed.blocks("garden", "allow-to-runtime-apiserver"))
        await comes_true(lambda: runner.queue.idle)
    before = seed.policies("garden")["allow-to-runtime-apiserver"]
    edited = {**before, "egress": before["egress"] * 2}
    path = "/apis/networking.k8s.io/v1/namespaces/garden/networkpolicies/allow-to-runtime-apiserver"
    seed.send("PATCH", path, {"spec": edited})

    async with at_work(seed, replace(CONFIG, resolved=Resolved((), 443))) as runner:
        await comes_true(lambda: runner.queue.idle)
        assert seed.policies("garden")["allow-to-runtime-apiserver"] == edited

        runner.reconfigure(CONFIG)
        await comes_true(lambda: seed.policies("garden")["allow-to-runtime-apiserver"] == before)


def test_what_simulate_prints_for_the_example_is_accepted_by_the_api_server(seed: Seed) -> None:
    printed = run_here("simulate", "operator/networkpolicy", "-f", "examples/namespace-network-policies")
    assert printed.returncode == 0

    for policy in yaml.safe_load_all(printed.stdout):
        body = {**policy, "metadata": {**policy["metadata"], "namespace": "default"}}
        path = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies?dryRun=All"
        stored = seed.control_plane.request("POST", path, body)[1]
        assert stored.get("spec") == policy["spec"], stored
