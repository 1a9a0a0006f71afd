"""The controllers and their worlds: an entry gives a controller all properties of `test_properties`."""

import base64
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final

from hypothesis import strategies as st
from returns.result import Result

from hedgerow.api.gardener import CLUSTERS, EXTENSIONS, MACHINES
from hedgerow.api.kubernetes import (
    CERTIFICATE_SIGNING_REQUESTS,
    CONFIG_MAPS,
    CRON_JOBS,
    CSI_NODES,
    DAEMON_SETS,
    JOBS,
    LEASES,
    NAMESPACES,
    NETWORK_POLICIES,
    NODES,
    PODS,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
)
from hedgerow.api.managed_resources import GARBAGE_COLLECTABLE, MANAGED_RESOURCES, ClassFilter
from hedgerow.extensions.heartbeat import LEASE, HeartbeatConfig, heartbeat
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.reading import with_value
from hedgerow.operator.namespace_network_policies import namespace_network_policy_controller
from hedgerow.resource_manager.garbage_collection import GarbageCollectorConfig, garbage_collector
from hedgerow.resource_manager.kubelet_certificates import (
    CertificateRequest,
    KubeletCertificateConfig,
    kubelet_csr_approver,
)
from hedgerow.resource_manager.managed_resources.secret_finalizers import secret_controller
from hedgerow.resource_manager.network_policies import NetworkPolicyConfig, network_policy_controller
from hedgerow.resource_manager.nodes import node_controller
from hedgerow.resource_manager.token_invalidation import token_invalidator
from hedgerow.resource_manager.token_requests import token_requestor
from hedgerow.rsyslog_relp.lifecycle import lifecycle_controller
from hedgerow_adapters.memory.kinds import Kind
from tests.unit.core.controllers.stage import Placed, Stage, World, in_source, in_target
from tests.unit.core.operator.namespace_network_policies import objects as namespace_policies
from tests.unit.core.resource_manager.kubelet_certificates import requests as certificates
from tests.unit.core.resource_manager.network_policies import objects as network_policies
from tests.unit.core.resource_manager.nodes import surroundings as nodes
from tests.unit.core.resource_manager.token_invalidation import accounts
from tests.unit.core.resource_manager.token_requests import harness as token_requests

CONTAINERS: Final = [{"name": "c", "image": "registry.example.com/c"}]
BEFORE: Final = "2025-06-01T00:00:00Z"
"""Long before the clock of the API servers."""
PREFIX: Final = "reference.resources.gardener.cloud/"
SHOOT_NETWORKING: Final = {"nodes": "172.16.0.0/18", "pods": "10.150.0.0/16", "services": "192.168.0.0/17"}
HELD: Final = ClassFilter("ours").finalizer


def typed(resource: Resource, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest that says what it is, without what a server would have given it."""
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in ("uid", "resourceVersion")}
    return {"apiVersion": resource.api_version, "kind": resource.kind, **manifest, "metadata": metadata}


def patch(placed: Placed, change: Manifest, subresource: str = "") -> Callable[[Stage], None]:
    return lambda stage: stage.patch(placed, change, subresource)


def put(placed: Placed) -> Callable[[Stage], None]:
    return lambda stage: stage.put(*placed)


def remove(placed: Placed) -> Callable[[Stage], None]:
    return lambda stage: stage.remove(placed)


def replace(placed: Placed, successor: Placed) -> Callable[[Stage], None]:
    """Somebody deletes an object, and creates another of the same name."""

    def change(stage: Stage) -> None:
        stage.remove(placed)
        stage.put(*successor)

    return change


def drawn(values: Sequence[Any], at_least: int = 0) -> st.SearchStrategy[list[Any]]:
    """Some of the values, in any order."""
    return st.lists(st.sampled_from(values), unique_by=str, min_size=at_least)


PORTS: Final = (
    {"port": 80, "protocol": "TCP", "targetPort": 8080, "name": "http"},
    {"port": 53, "protocol": "UDP", "name": "dns"},
)
SERVICE_ANNOTATIONS: Final = st.sampled_from(
    [
        {},
        {"namespace-selectors": '[{"matchLabels":{"team":"x"}}]'},
        {"from-all-bars-allowed-ports": '[{"port":9090}]', "from-world-to-ports": "[]"},
        {"from-world-to-ports": "not JSON"},
    ]
)


@st.composite
def services(draw: st.DrawFn) -> World:
    """A Service, policies of an earlier state and of a Service that is gone, and policies of other people."""
    shop, back = (typed(NAMESPACES, {"metadata": {"name": name, "labels": {"team": "x"}}}) for name in ("shop", "back"))
    cart, other = (
        network_policies.service(draw(SERVICE_ANNOTATIONS), ports) for ports in (draw(drawn(PORTS, 1)), PORTS)
    )
    policies = [
        network_policies.policy("ingress-to-cart-tcp-8080", draw(st.sampled_from(["shop/cart", "shop/gone"]))),
        network_policies.policy("egress-to-shop-cart-tcp-8080", namespace="back"),
        network_policies.policy("stale", draw(st.sampled_from(["shop/cart", "shop/gone"]))),
    ]
    subject, team = in_target(cart, back)
    return World(
        network_policy_controller(NetworkPolicyConfig()),
        in_target(shop, back, cart, *draw(drawn(policies))),
        subject,
        in_target(network_policies.policy("deny-all", None), network_policies.policy("stale", None, namespace="back")),
        {
            "other annotations and ports": put(*in_target(other)),
            "no selector": patch(subject, {"spec": {"selector": None}}),
            "a namespace of another team": patch(team, {"metadata": {"labels": {"team": "y"}}}),
        },
    )


@st.composite
def namespaces(draw: st.DrawFn) -> World:
    """A namespace of a shoot or of an extension, policies of an earlier state, and policies of other people."""
    role = namespace_policies.role(draw(st.sampled_from(["shoot", "extension"])))
    namespace = typed(NAMESPACES, namespace_policies.namespace(namespace_policies.SHOOT, role))
    names = draw(drawn(namespace_policies.NAMES))
    key = partial(ObjectKey, namespace_policies.SHOOT)
    policies = [typed(NETWORK_POLICIES, namespace_policies.policy(key(name))) for name in names[:3]]
    theirs = [typed(NETWORK_POLICIES, namespace_policies.policy(key(name), described=False)) for name in names[3:]]
    cluster = namespace_policies.cluster(networking=draw(st.sampled_from([{}, SHOOT_NETWORKING])))
    endpoints = namespace_policies.endpoints()
    (subject,) = in_target(namespace)
    moved = namespace_policies.endpoints(namespace_policies.subset("10.2.0.9"))
    return World(
        namespace_network_policy_controller(namespace_policies.CONFIG),
        in_target(namespace, cluster, endpoints, *policies),
        subject,
        in_target(*theirs),
        {
            "no role": patch(subject, {"metadata": {"labels": {"gardener.cloud/role": None}}}),
            "another API server": put(*in_target(moved)),
            "no Cluster": remove(*in_target(cluster)),
        },
        (Kind(CLUSTERS),),
    )


@st.composite
def new_nodes(draw: st.DrawFn) -> World:
    """A new Node beside an old one, with a critical DaemonSet, its pod and its CSI driver, or without some of these."""
    node = typed(NODES, nodes.node(nodes.taint("a"), nodes.taint(), labels={"n": "5"}))
    old = typed(NODES, {"metadata": {"name": "old"}, "spec": {"taints": [nodes.taint("a")]}})
    daemon_set = typed(DAEMON_SETS, nodes.daemon_set("network", "default"))
    daemon_set["spec"] |= {"selector": {"matchLabels": {"app": "network"}}}
    template = daemon_set["spec"]["template"]
    template["metadata"]["labels"]["app"] = "network"
    template["spec"]["containers"] = CONTAINERS
    pods = [typed(PODS, nodes.pod(name, ready=draw(st.booleans()), csi={"d": "disk"})) for name in ("p", "q")]
    for pod in pods:
        pod["spec"]["containers"] = CONTAINERS
    csi_node = typed(CSI_NODES, nodes.csi_node("disk"))
    (subject,) = in_target(node)
    return World(
        node_controller(),
        in_target(node, *draw(drawn([daemon_set])), *draw(drawn([*pods, csi_node]))),
        subject,
        in_target(old),
        {
            "another Node of the name": replace(subject, *in_target({**node, "spec": {"taints": [nodes.taint()]}})),
            "one more taint": patch(subject, {"spec": {"taints": [nodes.taint(), nodes.taint("b")]}}),
            "no taint": patch(subject, {"spec": {"taints": None}}),
            "a DaemonSet": put(*in_target(daemon_set)),
        },
    )


def in_pem(request: str) -> str:
    """A request as tests of certificates encode it, in PEM."""
    lines = (
        "-----BEGIN CERTIFICATE REQUEST-----",
        base64.b64decode(request).decode(),
        "-----END CERTIFICATE REQUEST-----",
    )
    return base64.b64encode("\n".join(lines).encode()).decode()


def decode(pem: bytes) -> Result[CertificateRequest, str]:
    return certificates.decode(pem.splitlines()[1])


@st.composite
def certificate_requests(draw: st.DrawFn) -> World:
    """A kubelet's request that is approved, denied or waits, and a request to another signer."""
    asked = draw(st.sampled_from([*[certificates.asked()] * 3, certificates.asked(dns=["evil.example.com"])]))
    csr, theirs = (
        typed(CERTIFICATE_SIGNING_REQUESTS, certificates.csr(in_pem(asked), signerName=f"kubernetes.io/{signer}"))
        for signer in ("kubelet-serving", "kube-apiserver-client")
    )
    csr["metadata"], theirs["metadata"] = {"name": certificates.KEY.name}, {"name": "theirs"}
    node = typed(NODES, certificates.NODE)
    double = typed(NODES, certificates.node(("Hostname", "foo.bar"), name="node-2"))
    machine, second_machine = (typed(MACHINES, certificates.machine(name)) for name in ("m0", "m1"))
    api_server = typed(SERVICES, certificates.API_SERVER)
    api_server["spec"] = {**api_server["spec"], "ports": [{"port": 443}]}
    (subject,) = in_target(csr)
    evil = {**csr, "spec": {**csr["spec"], "request": in_pem(certificates.asked(ips=["6.6.6.6"]))}}
    denied = {"status": {"conditions": [certificates.condition("Denied")]}}
    return World(
        kubelet_csr_approver(KubeletCertificateConfig(decode, certificates.SHOOT)),
        (
            *in_target(csr, node, api_server, *draw(st.sampled_from([[], [], [], [double]]))),
            *in_source(*draw(st.sampled_from([[machine], [machine], [], [machine, second_machine]]))),
        ),
        subject,
        in_target(theirs),
        {
            "another content": replace(subject, *in_target(evil)),
            "denied by somebody": patch(subject, denied, "approval"),
            "no Node": remove(*in_target(node)),
            "a namesake of the Node": put(*in_target(double)),
            "no Machine": remove(*in_source(machine)),
        },
        (Kind(MACHINES),),
    )


def without_tokens(manifest: Manifest) -> Manifest:
    """A Secret of which only the names of the values are left."""
    return (
        {**manifest, "data": sorted(manifest["data"])}
        if manifest["kind"] == "Secret" and "data" in manifest
        else manifest
    )


@st.composite
def token_secrets(draw: st.DrawFn) -> World:
    """A Secret that wants a token, here or in the target cluster, now or later; and a Secret that wants none."""
    contents: st.SearchStrategy[Manifest] = st.sampled_from(
        [{}, {"token": "old"}, {"kubeconfig": token_requests.kubeconfig("old")}]
    )
    renewal = draw(st.sampled_from([{}, {"token-renew-timestamp": "2026-01-01T01:00:00Z"}]))
    secret = token_requests.token_secret(
        draw(contents), {**renewal, **draw(st.sampled_from([{}, token_requests.TO_TARGET]))}
    )
    other = token_requests.token_secret(key=ObjectKey("bar", "other"), labels={})
    account = typed(SERVICE_ACCOUNTS, {"metadata": token_requests.ACCOUNT._asdict()})
    target = typed(SECRETS, {"metadata": token_requests.TARGET._asdict(), "data": {"ca": "eA=="}})
    (subject,) = in_source(secret)
    return World(
        token_requestor(),
        (
            *in_source(secret),
            *in_target(
                *draw(drawn([account, target])),
                *(typed(NAMESPACES, {"metadata": {"name": name}}) for name in ("bar", "accounts")),
            ),
        ),
        subject,
        in_source(other),
        {
            "another account": patch(
                subject, {"metadata": {"annotations": token_requests.annotated({"name": "cook"})}}
            ),
            "another place": patch(
                subject, {"metadata": {"annotations": token_requests.annotated(token_requests.TO_TARGET)}}
            ),
            "more data": patch(subject, {"data": {"ca": token_requests.encoded("x")}}),
            "no label": patch(subject, {"metadata": {"labels": dict.fromkeys(token_requests.PURPOSE)}}),
            "another kubeconfig": patch(
                subject, {"data": {"kubeconfig": token_requests.encoded(token_requests.kubeconfig())}}
            ),
        },
        unconditional=frozenset({"pods-get-tokens"}),
        without_secrets=without_tokens,
    )


@st.composite
def static_tokens(draw: st.DrawFn) -> World:
    """A Secret with a token of a ServiceAccount that mounts it or not, perhaps a pod with it; and another Secret."""
    labels = st.sampled_from([{}, accounts.MARKED, accounts.CONSIDERED])
    secret = typed(SECRETS, accounts.token_secret(draw(labels)))
    other = typed(SECRETS, accounts.token_secret(account="", name="other"))
    other["type"] = "Opaque"
    account, willing = (
        accounts.service_account(accounts.KEY.name, automount=mounts) for mounts in (draw(st.booleans()), True)
    )
    (subject,) = in_target(secret)
    return World(
        token_invalidator(),
        in_target(account, secret, *draw(drawn([accounts.mounting_pod()]))),
        subject,
        in_target(other),
        {
            "labelled": patch(subject, {"metadata": {"labels": accounts.CONSIDERED}}),
            "mounted": put(*in_target(accounts.mounting_pod())),
            "another mind": put(*in_target(willing)),
            "no account": remove(*in_target(account)),
        },
    )


@st.composite
def referenced_objects(draw: st.DrawFn) -> World:
    """ConfigMaps and Secrets that are used or not, pods that use them; and what carries no label, or is young."""
    labelled = {"labels": {GARBAGE_COLLECTABLE: "true"}, "creationTimestamp": BEFORE}
    objects = [
        typed(resource, {"metadata": {"name": name, "namespace": "shop", **labelled}})
        for resource in (CONFIG_MAPS, SECRETS)
        for name in ("one", "two")
    ]
    plain = typed(CONFIG_MAPS, {"metadata": {"name": "plain", "namespace": "shop", "creationTimestamp": BEFORE}})
    young = typed(SECRETS, {"metadata": {"name": "young", "namespace": "shop", "labels": labelled["labels"]}})
    user, late = (
        {
            **typed(PODS, {"metadata": {"name": name, "namespace": "shop", "annotations": {annotation: used}}}),
            "spec": {"containers": CONTAINERS},
        }
        for name, used, annotation in (
            (
                "user",
                draw(st.sampled_from(["one", "two"])),
                draw(st.sampled_from([f"{PREFIX}configmap-1", f"{PREFIX}secret-1"])),
            ),
            ("late", "one", f"{PREFIX}configmap-1"),
        )
    )
    (subject, *_) = in_target(*objects)
    return World(
        garbage_collector(GarbageCollectorConfig()),
        in_target(*objects, young, *draw(drawn([user]))),
        subject,
        in_target(plain),
        {
            "used": put(*in_target(late)),
            "unlabelled": patch(subject, {"metadata": {"labels": {GARBAGE_COLLECTABLE: None}}}),
            "unused": remove(*in_target(user)),
        },
        tuple(map(Kind, (JOBS, CRON_JOBS, MANAGED_RESOURCES))),
    )


@st.composite
def held_secrets(draw: st.DrawFn) -> World:
    """A Secret that ManagedResources name or not, held or not; and a Secret that nobody needs."""
    finalizers = draw(drawn([HELD, "example.com/own"]))
    secret, other = (
        typed(SECRETS, {"metadata": {"name": name, "namespace": "shop", "finalizers": held}})
        for name, held in (("one", finalizers), ("two", ["example.com/own"]))
    )
    app, idle = (
        typed(
            MANAGED_RESOURCES,
            {
                "metadata": {"name": name, "namespace": "shop"},
                "spec": {"class": "ours", "secretRefs": [{"name": secret_name}]},
            },
        )
        for name, secret_name in (("app", "one"), ("idle", "three"))
    )
    (subject,) = in_source(secret)
    return World(
        secret_controller(ClassFilter("ours")),
        in_source(secret, idle, *draw(drawn([app]))),
        subject,
        in_source(other),
        {
            "another finalizer": patch(subject, {"metadata": {"finalizers": ["example.com/new"]}}),
            "needed": put(*in_source(app)),
            "not needed": remove(*in_source(app)),
        },
        (Kind(MANAGED_RESOURCES),),
    )


def without_times(manifest: Manifest) -> Manifest:
    """An Extension without the time of its last operation, or a Lease without that of its renewal."""
    for path in (("status", "lastOperation", "lastUpdateTime"), ("spec", "renewTime")):
        holder = manifest
        for name in path[:-1]:
            holder = holder.get(name) or {}
        if path[-1] in holder:
            manifest = with_value(manifest, path, "then")
    return manifest


RELP: Final = "shoot-rsyslog-relp"
OTHERS: Final = "example.com/own"
RELP_FINALIZER: Final = f"extensions.gardener.cloud/{RELP}"


@st.composite
def extensions(draw: st.DrawFn) -> World:
    """An Extension of a Shoot without nodes, in any state; perhaps its ConfigMap; and an Extension of another type."""
    is_going, operation = draw(st.booleans()), draw(st.sampled_from([None, "reconcile", "migrate", "restore"]))
    last = {"type": "Reconcile", "state": draw(st.sampled_from(["Succeeded", "Error"])), "lastUpdateTime": BEFORE}
    metadata = {
        "name": RELP,
        "namespace": "shop",
        "finalizers": draw(drawn([RELP_FINALIZER, OTHERS], at_least=1)),
        "annotations": {"gardener.cloud/operation": operation} if operation else {},
        **({"deletionTimestamp": BEFORE} if is_going else {}),
    }
    status = draw(st.sampled_from([{}, {"lastOperation": {**last, "progress": 50, "description": "before"}}]))
    extension, other = (
        {**typed(EXTENSIONS, {"metadata": given}), "spec": {"type": kind}, **({"status": status} if status else {})}
        for given, kind in ((metadata, RELP), ({"name": "other", "namespace": "shop"}, "other"))
    )
    hibernated = {"spec": {"hibernation": {"enabled": True}}, "status": {"hibernated": True}}
    cluster = {**typed(CLUSTERS, {"metadata": {"name": "shop"}}), "spec": {"shoot": hibernated}}
    stale = {
        **typed(CONFIG_MAPS, {"metadata": {"name": f"{RELP}-prometheus", "namespace": "shop"}}),
        "data": {"scrape_config": "stale"},
    }
    subject, clusters = in_target(extension, cluster)
    return World(
        lifecycle_controller(),
        in_target(extension, cluster, *draw(drawn([stale]))),
        subject,
        in_target(other),
        {
            "asked for again": patch(subject, {"metadata": {"annotations": {"gardener.cloud/operation": "reconcile"}}}),
            "another finalizer": patch(subject, {"metadata": {"finalizers": [RELP_FINALIZER, "example.com/new"]}}),
            "failed Shoot": patch(clusters, {"spec": {"shoot": {"status": {"lastOperation": {"state": "Failed"}}}}}),
        },
        (Kind(EXTENSIONS, has_status=True, has_generation=True), Kind(CLUSTERS), Kind(MANAGED_RESOURCES)),
        frozenset({"monitoring", "extension-deleted"}),
        without_times,
    )


@st.composite
def heartbeats(draw: st.DrawFn) -> World:
    """The Lease of an extension as it left it long ago, and the Lease of another."""
    lease, other = (
        {
            **typed(LEASES, {"metadata": {"name": name, "namespace": "shop"}}),
            "spec": {
                "holderIdentity": draw(st.sampled_from([RELP, "other"])),
                "renewTime": "2025-06-01T00:00:00.000000Z",
            },
        }
        for name in (LEASE, "other")
    )
    (subject,) = in_target(lease)
    return World(
        heartbeat(HeartbeatConfig(RELP, "shop", timedelta(seconds=30))),
        in_target(lease),
        subject,
        in_target(other),
        unconditional=frozenset({"heartbeat"}),
        without_secrets=without_times,
    )


WORLDS: Final[Mapping[str, Callable[[], st.SearchStrategy[World]]]] = {
    "garbage-collector": referenced_objects,
    "heartbeat": heartbeats,
    "kubelet-csr-approver": certificate_requests,
    "networkpolicy": services,
    "node": new_nodes,
    "operator/networkpolicy": namespaces,
    "secret": held_secrets,
    "shoot_rsyslog_relp_lifecycle_controller": extensions,
    "token-invalidator": static_tokens,
    "token-requestor": token_secrets,
}
"""Of each controller its worlds, under the name that commands show."""
