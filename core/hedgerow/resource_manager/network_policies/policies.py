"""The NetworkPolicies of Services, and how policies and pod labels are named.

A permission to connect needs an ingress policy where the Service's pods run, and an egress policy where the client pods
run. Both are built from the same parts. Names are a contract with everyone who labels pods.

Source: network-and-nodes §2.5, §2.6, §8; decision D-9 for shortening.
"""

import json
from hashlib import sha256
from typing import Any, Final, NamedTuple, cast

from hedgerow.api.kubernetes import METADATA_NAME
from hedgerow.api.network_policies import (
    DOMAIN,
    POLICY_DESCRIPTION,
    SERVICE_NAME,
    SERVICE_NAMESPACE,
    EgressRule,
    IngressRule,
    PeerManifest,
    PolicySpec,
    PortManifest,
    SelectorManifest,
    policy_manifest,
)
from hedgerow.machinery.names import dns_subdomain_problem
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.resource_manager.network_policies.ports import PolicyPort

LONGEST_LABEL_NAME: Final = 63
LONGEST_POLICY_NAME: Final = 253


def shortened(name: str, longest: int) -> str:
    """The name, or, if it is too long, its beginning, a dash and 5 hex digits of its SHA-256."""
    if len(name) <= longest:
        return name
    return f"{name[: longest - 6]}-{sha256(name.encode()).hexdigest()[:5]}"


def policy_id(service: str, port: PolicyPort, alias: str = "") -> str:
    """The part of the names of policies that tells apart those of one Service: its name, the port, the alias."""
    plain = f"{service}-{(port.protocol or 'TCP').lower()}-{port.text}"
    return f"{plain}-via-{alias}" if alias else plain


def pod_label(key: str, infix: str | None = None) -> str:
    """The label key that opens traffic to the pods that carry it.

    Args:
        key: the policy id, or the alias.
        infix: the Service's namespace or its alias, for pods of other namespaces; none for those of its own.
    """
    name = f"to-{key}" if infix is None else f"to-{infix}-{key}"
    return f"{DOMAIN}/{shortened(name, LONGEST_LABEL_NAME)}"


def network_policy_label(service: str, port: int | str, protocol: str = "TCP") -> str:
    """The label key that a pod in the Service's own namespace carries to reach this container port of it."""
    return pod_label(policy_id(service, PolicyPort(protocol, port)))


def policy_name_problem(name: str) -> str | None:
    """Why the API server would refuse a policy of this name; none if it would take it."""
    problem = dns_subdomain_problem(name)
    return problem and f"policy name {json.dumps(name)} {problem}"


class NetworkPolicy(NamedTuple):
    """A NetworkPolicy that a Service asks for."""

    key: ObjectKey
    owner: ObjectKey
    """The Service."""
    description: str
    spec: PolicySpec
    reason: str
    """The rule that asks for it: service-port, allowed-ports, from-world or ingress-backend."""

    @property
    def labels(self) -> dict[str, str]:
        """The labels that tell whose policy this is."""
        return {SERVICE_NAME: self.owner.name, SERVICE_NAMESPACE: self.owner.namespace}

    @property
    def annotations(self) -> dict[str, str]:
        """The description for people."""
        return {POLICY_DESCRIPTION: self.description}

    def manifest(self) -> dict[str, Any]:
        """The object to send to an API server or to write to a file."""
        return policy_manifest(self.key, self.spec, self.annotations, self.labels)


class Peer(NamedTuple):
    """Pods of one namespace that may connect."""

    namespace: str
    selector: SelectorManifest
    selector_text: str
    who: str
    """As descriptions of ingress policies name them: `pods running in namespace x`."""


def labelled_pods(namespace: str, label: str) -> Peer:
    """The pods of a namespace that carry a label of ours."""
    selector: SelectorManifest = {"matchLabels": {label: "allowed"}}
    return Peer(namespace, selector, f"map[{label}:allowed]", f"pods running in namespace {namespace}")


def ingress_controller_pods(namespace: str, selector: LabelSelector) -> Peer:
    """The pods of the ingress controller."""
    who = f"ingress controller pods running in the {namespace} namespace"
    return Peer(namespace, cast("SelectorManifest", selector.manifest()), selector_text(selector), who)


def selector_text(selector: LabelSelector) -> str:
    """A label selector as descriptions show it: `map[k:v]`, or `{map[k:v] [{key Operator [v1 v2]}]}`."""
    labels = " ".join(f"{key}:{value}" for key, value in selector.match_labels)
    expressions = " ".join(
        f"{{{term.key} {term.operator} [{' '.join(term.values)}]}}" for term in selector.match_expressions
    )
    return f"{{map[{labels}] [{expressions}]}}" if expressions else f"map[{labels}]"


class Permission(NamedTuple):
    """Permission to connect to one port of the pods behind a Service, for any peer."""

    service: ObjectKey
    selector: SelectorManifest
    port: PortManifest
    traffic: str
    """The port in descriptions: `TCP traffic to port 8080`."""
    pods: str
    """The pods in descriptions: `pods selected by the shop/cart service selector`."""
    reason: str

    def ingress_half(self, name: str, peer: Peer) -> NetworkPolicy:
        """The policy that lets the peer in, in the Service's namespace."""
        text = f"Allows ingress {self.traffic} for {self.pods} from {peer.who} labeled with {peer.selector_text}."
        pods = _pods(peer.selector, peer.namespace, seen_from=self.service.namespace)
        rules: list[IngressRule] = [{"from": [pods], "ports": [self.port]}]
        spec: PolicySpec = {"podSelector": self.selector, "policyTypes": ["Ingress"], "ingress": rules}
        return NetworkPolicy(policy_key(self.service.namespace, name), self.service, text, spec, self.reason)

    def egress_half(self, name: str, peer: Peer) -> NetworkPolicy:
        """The policy that lets the peer out, in the peer's namespace."""
        who = peer.who.removeprefix("ingress controller ")
        text = f"Allows egress {self.traffic} from {who} labeled with {peer.selector_text} to {self.pods}."
        pods = _pods(self.selector, self.service.namespace, seen_from=peer.namespace)
        rules: list[EgressRule] = [{"to": [pods], "ports": [self.port]}]
        spec: PolicySpec = {"podSelector": peer.selector, "policyTypes": ["Egress"], "egress": rules}
        return NetworkPolicy(policy_key(peer.namespace, name), self.service, text, spec, self.reason)


class Target(NamedTuple):
    """The pods behind a Service."""

    service: ObjectKey
    selector: SelectorManifest

    @property
    def description(self) -> str:
        """The pods in descriptions."""
        return f"pods selected by the {self.service} service selector"

    def permission(self, port: PolicyPort, reason: str) -> Permission:
        """Permission to connect to one port, for the rule that asks for it."""
        traffic = f"{port.protocol} traffic to port {port.text}"
        return Permission(self.service, self.selector, port.manifest(), traffic, self.description, reason)

    def open_to_the_world(self, ports: tuple[PolicyPort, ...], reason: str) -> NetworkPolicy:
        """The policy that lets everybody in to the ports, or to every port where none is listed."""
        # Made anew: a policy's manifest is its caller's to change.
        everybody: list[PeerManifest] = [
            {"namespaceSelector": {}, "podSelector": {}},
            {"ipBlock": {"cidr": "0.0.0.0/0"}},
            {"ipBlock": {"cidr": "::/0"}},
        ]
        rule: IngressRule = {"from": everybody}
        if ports:
            rule = {**rule, "ports": [port.manifest() for port in ports]}
        listed = " ".join(port.description for port in ports)
        text = f"Allows ingress traffic from everywhere to ports [{listed}] for {self.description}."
        spec: PolicySpec = {"podSelector": self.selector, "policyTypes": ["Ingress"], "ingress": [rule]}
        return NetworkPolicy(from_world_key(self.service), self.service, text, spec, reason)


def from_world_key(service: ObjectKey) -> ObjectKey:
    """The key of the policy that opens a Service to everybody."""
    return policy_key(service.namespace, f"ingress-to-{service.name}-from-world")


def policy_key(namespace: str, name: str) -> ObjectKey:
    """The key of a policy. A name that is too long is shortened."""
    return ObjectKey(namespace, shortened(name, LONGEST_POLICY_NAME))


def _pods(selector: SelectorManifest, namespace: str, *, seen_from: str) -> PeerManifest:
    if namespace == seen_from:
        return {"podSelector": selector}
    return {"namespaceSelector": {"matchLabels": {METADATA_NAME: namespace}}, "podSelector": selector}
