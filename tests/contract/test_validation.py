"""What is refused as invalid: names, labels and the fields that controllers write."""

from typing import Any

import pytest

from hedgerow_adapters.protocol import requests
from tests.contract.objects import (
    CONFIG_MAPS,
    EVENTS,
    LEASES,
    NAMESPACES,
    NETWORK_POLICIES,
    SERVICES,
    causes,
    config_map,
    key,
    lease,
    policy,
    refusal,
)
from tests.contract.targets import Send

INVALID, REQUIRED, FORBIDDEN, UNSUPPORTED, DUPLICATE = (
    f"FieldValue{reason}" for reason in ("Invalid", "Required", "Forbidden", "NotSupported", "Duplicate")
)


def ports(*entries: Any) -> dict[str, Any]:
    return policy(spec={"podSelector": {}, "ingress": [{"ports": list(entries)}]})


def peers(*entries: Any) -> dict[str, Any]:
    return policy(spec={"podSelector": {}, "egress": [{"to": list(entries)}]})


def selects(*expressions: Any, **labels: str) -> dict[str, Any]:
    return policy(spec={"podSelector": {"matchLabels": labels, "matchExpressions": list(expressions)}})


PORT, PEER, SELECTOR = "spec.ingress[0].ports[0]", "spec.egress[0].to[0]", "spec.podSelector"
BAD_POLICIES: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "upper case in the name": (policy("Policy"), [(INVALID, "metadata.name")]),
    "underscore in the name": (policy("a_b"), [(INVALID, "metadata.name")]),
    "two dots in the name": (policy("a..b"), [(INVALID, "metadata.name")]),
    "name over 253 characters": (policy("x" * 254), [(INVALID, "metadata.name")]),
    "blank in a label key": (policy(labels={"a b": ""}), [(INVALID, "metadata.labels")]),
    "empty label key": (policy(labels={"": ""}), [(INVALID, "metadata.labels")]),
    "empty prefix": (policy(labels={"/a": ""}), [(INVALID, "metadata.labels")]),
    "two slashes": (policy(labels={"a/b/c": ""}), [(INVALID, "metadata.labels")]),
    "upper case in the prefix": (policy(labels={"A.b/c": ""}), [(INVALID, "metadata.labels")]),
    "label name over 63 characters": (policy(labels={"x" * 64: ""}), [(INVALID, "metadata.labels")]),
    "label value over 63 characters": (policy(labels={"a": "x" * 64}), [(INVALID, "metadata.labels")]),
    "label value ends in a dash": (policy(labels={"a": "x-"}), [(INVALID, "metadata.labels")]),
    "blank in an annotation key": (policy(annotations={"a b": "c"}), [(INVALID, "metadata.annotations")]),
    "annotations over 256 KiB": (
        policy(annotations={"a": "x" * 262144}),
        [("FieldValueTooLong", "metadata.annotations")],
    ),
    "unqualified finalizer": (policy(finalizers=["mine"]), [(INVALID, "metadata.finalizers[0]")]),
    "owner without uid": (
        policy(ownerReferences=[{"apiVersion": "v1", "kind": "Service", "name": "s"}]),
        [(INVALID, "metadata.ownerReferences.uid")],
    ),
    "pod label": (selects(**{"a b": "x"}), [(INVALID, f"{SELECTOR}.matchLabels")]),
    "pod label value": (selects(a="-x"), [(INVALID, f"{SELECTOR}.matchLabels")]),
    "unknown operator": (
        selects({"key": "a", "operator": "Near", "values": ["b"]}),
        [(INVALID, f"{SELECTOR}.matchExpressions[0].operator")],
    ),
    "In without values": (
        selects({"key": "a", "operator": "In"}),
        [(REQUIRED, f"{SELECTOR}.matchExpressions[0].values")],
    ),
    "Exists with values": (
        selects({"key": "a", "operator": "Exists", "values": ["b"]}),
        [(FORBIDDEN, f"{SELECTOR}.matchExpressions[0].values")],
    ),
    "expression without a key": (
        selects({"operator": "Exists"}),
        [(INVALID, f"{SELECTOR}.matchExpressions[0].key")],
    ),
    "bad value in an expression": (
        selects({"key": "a", "operator": "NotIn", "values": ["b", "c d"]}),
        [(INVALID, f"{SELECTOR}.matchExpressions[0].values[1]")],
    ),
    "port 0": (ports({"port": 0}), [(INVALID, f"{PORT}.port")]),
    "port 65536": (ports({"port": 65536}), [(INVALID, f"{PORT}.port")]),
    "negative port": (ports({"port": -1}), [(INVALID, f"{PORT}.port")]),
    "port name with underscore": (ports({"port": "a_b"}), [(INVALID, f"{PORT}.port")]),
    "port name without a letter": (ports({"port": "80"}), [(INVALID, f"{PORT}.port")]),
    "port name over 15 characters": (ports({"port": "x" * 16}), [(INVALID, f"{PORT}.port")]),
    "empty port name": (ports({"port": ""}), [(INVALID, f"{PORT}.port")]),
    "port name with two dashes": (ports({"port": "a--b"}), [(INVALID, f"{PORT}.port")]),
    "port name with a dash in front": (ports({"port": "-a"}), [(INVALID, f"{PORT}.port")]),
    "port name in upper case": (ports({"port": "HTTP"}), [(INVALID, f"{PORT}.port")]),
    "port name <nil>": (ports({"port": "<nil>"}), [(INVALID, f"{PORT}.port")]),
    "unknown protocol": (ports({"protocol": "ICMP"}), [(UNSUPPORTED, f"{PORT}.protocol")]),
    "protocol in lower case": (ports({"protocol": "tcp"}), [(UNSUPPORTED, f"{PORT}.protocol")]),
    "empty protocol": (ports({"protocol": ""}), [(UNSUPPORTED, f"{PORT}.protocol")]),
    "end below the port": (ports({"port": 5, "endPort": 4}), [(INVALID, f"{PORT}.endPort")]),
    "end over 65535": (ports({"port": 5, "endPort": 65536}), [(INVALID, f"{PORT}.endPort")]),
    "end of a named port": (ports({"port": "a", "endPort": 4}), [(INVALID, f"{PORT}.endPort")]),
    "end without a port": (ports({"endPort": 4}), [(INVALID, f"{PORT}.endPort")]),
    "no peer": (peers({}), [(REQUIRED, PEER)]),
    "addresses and pods": (peers({"podSelector": {}, "ipBlock": {"cidr": "10.0.0.0/8"}}), [(FORBIDDEN, PEER)]),
    "selector of a peer": (
        peers({"namespaceSelector": {"matchLabels": {"a": "b c"}}}),
        [(INVALID, f"{PEER}.namespaceSelector.matchLabels")],
    ),
    "no CIDR": (peers({"ipBlock": {}}), [(REQUIRED, f"{PEER}.ipBlock.cidr")]),
    "address instead of a CIDR": (peers({"ipBlock": {"cidr": "10.0.0.1"}}), [(INVALID, f"{PEER}.ipBlock.cidr")]),
    "prefix too long": (peers({"ipBlock": {"cidr": "10.0.0.0/33"}}), [(INVALID, f"{PEER}.ipBlock.cidr")]),
    "bits beyond the prefix": (peers({"ipBlock": {"cidr": "10.0.0.1/8"}}), [(INVALID, f"{PEER}.ipBlock.cidr")]),
    "leading zero": (peers({"ipBlock": {"cidr": "010.0.0.0/8"}}), [(INVALID, f"{PEER}.ipBlock.cidr")]),
    "IPv4 inside of IPv6": (
        peers({"ipBlock": {"cidr": "::ffff:10.0.0.0/120"}}),
        [(INVALID, f"{PEER}.ipBlock.cidr")],
    ),
    "exceptions that are not strictly inside": (
        peers({"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.0.0.0/8", "10.1.0.0/16", "11.0.0.0/16", "::/0", "x"]}}),
        [(INVALID, f"{PEER}.ipBlock.except[{index}]") for index in (0, 2, 3, 4)],
    ),
    "unknown policy type": (policy(spec={"policyTypes": ["Sideways"]}), [(UNSUPPORTED, "spec.policyTypes[0]")]),
    "three policy types": (
        policy(spec={"policyTypes": ["Ingress", "Egress", "Ingress"]}),
        [(INVALID, "spec.policyTypes")],
    ),
}


@pytest.mark.parametrize(("body", "expected"), BAD_POLICIES.values(), ids=BAD_POLICIES)
def test_a_bad_policy_is_refused(
    send: Send, namespace: str, body: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    refused = send(requests.create(NETWORK_POLICIES, body, namespace))

    assert causes(refused) == expected
    name = body["metadata"]["name"]
    assert refused.body["message"].startswith(f'NetworkPolicy.networking.k8s.io "{name}" is invalid: ')
    details = refused.body["details"]
    assert (details["name"], details["group"], details["kind"]) == (name, "networking.k8s.io", "NetworkPolicy")


MESSAGES: dict[str, tuple[dict[str, Any], str]] = {
    "port": (ports({"port": 0}), f"{PORT}.port: Invalid value: 0: must be between 1 and 65535, inclusive"),
    "end port": (
        ports({"port": 5, "endPort": 4}),
        f"{PORT}.endPort: Invalid value: 5: must be greater than or equal to `port`",
    ),
    "protocol": (
        ports({"protocol": "tcp"}),
        f'{PORT}.protocol: Unsupported value: "tcp": supported values: "TCP", "UDP", "SCTP"',
    ),
    "cidr": (
        peers({"ipBlock": {"cidr": "x"}}),
        f'{PEER}.ipBlock.cidr: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ),
    "several": (
        peers({}, {"ipBlock": {}}),
        f"[{PEER}: Required value: must specify a peer, spec.egress[0].to[1].ipBlock.cidr: Required value]",
    ),
    "policy types": (
        policy(spec={"policyTypes": ["a", "b", "c"]}),
        'spec.policyTypes: Invalid value: ["a","b","c"]: may not specify more than two policyTypes',
    ),
}


@pytest.mark.parametrize(("body", "problem"), MESSAGES.values(), ids=MESSAGES)
def test_the_message_names_field_value_and_rule(send: Send, namespace: str, body: dict[str, Any], problem: str) -> None:
    refused = send(requests.create(NETWORK_POLICIES, body, namespace))

    message = f'NetworkPolicy.networking.k8s.io "policy" is invalid: {problem}'
    assert refusal(refused) == (422, "Invalid", message)


WRONG_TYPES: dict[str, Any] = {
    "spec": "everything",
    "rules": {"ingress": {}},
    "port": {"ingress": [{"ports": [{"port": 1.5}]}]},
    "protocol": {"ingress": [{"ports": [{"protocol": 6}]}]},
    "cidr": {"egress": [{"to": [{"ipBlock": {"cidr": 10}}]}]},
    "port of more than 32 bits": {"ingress": [{"ports": [{"port": 4294967296}]}]},
}


@pytest.mark.parametrize("spec", WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_a_policy_with_a_field_of_the_wrong_type_is_no_policy(send: Send, namespace: str, spec: Any) -> None:
    assert refusal(send(requests.create(NETWORK_POLICIES, policy(spec=spec), namespace)))[:2] == (400, "BadRequest")


GOOD_POLICIES: dict[str, dict[str, Any]] = {
    "name of 253 characters": policy("x" * 253),
    "name with dots": policy("a.b-c.9"),
    "longest label": policy(labels={f"{'p' * 63}.example/{'n' * 63}": "v" * 63}),
    "empty label value": policy(labels={"a": ""}),
    "annotation key with upper case": policy(annotations={"Example.COM/Key": "anything at all"}),
    "all ports of a protocol": ports({"protocol": "SCTP"}, {}),
    "a range of one port": ports({"port": 5, "endPort": 5}),
    "named port of 15 characters": ports({"port": "a23456789-12345"}),
    "everywhere": peers({"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}}, {"ipBlock": {"cidr": "::/0"}}),
    "exception in another spelling": peers({"ipBlock": {"cidr": "::/0", "except": ["FD00::/8"]}}),
    "all pods of all namespaces": peers({"namespaceSelector": {}, "podSelector": {}}),
    "the same policy type twice": policy(spec={"policyTypes": ["Egress", "Egress"]}),
}


@pytest.mark.parametrize("body", GOOD_POLICIES.values(), ids=GOOD_POLICIES)
def test_a_policy_at_the_edge_of_the_rules_is_accepted(send: Send, namespace: str, body: dict[str, Any]) -> None:
    assert send(requests.create(NETWORK_POLICIES, body, namespace)).status == 201


def test_an_update_is_held_to_the_same_rules(send: Send, namespace: str) -> None:
    send(requests.create(NETWORK_POLICIES, policy(), namespace))
    policy_key = key(namespace, "policy")

    bad_port = {"spec": {"ingress": [{"ports": [{"port": 0}]}]}}
    bad_label = {"metadata": {"labels": {"a b": ""}}}

    assert causes(send(requests.merge_patch(NETWORK_POLICIES, policy_key, bad_port))) == [(INVALID, f"{PORT}.port")]
    assert causes(send(requests.merge_patch(NETWORK_POLICIES, policy_key, bad_label))) == [(INVALID, "metadata.labels")]


def service(name: str = "s", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": spec}


BAD_SERVICES: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "dot in the name": (service("a.b", ports=[{"port": 1}]), [(INVALID, "metadata.name")]),
    "no ports": (service(), [(REQUIRED, "spec.ports")]),
    "two ports without names": (
        service(ports=[{"port": 1}, {"port": 2}]),
        [(REQUIRED, "spec.ports[0].name"), (REQUIRED, "spec.ports[1].name")],
    ),
    "the same name twice": (
        service(ports=[{"port": 1, "name": "a"}, {"port": 2, "name": "a"}]),
        [(DUPLICATE, "spec.ports[1].name")],
    ),
    "the same port twice": (
        service(ports=[{"port": 1, "name": "a"}, {"port": 1, "name": "b"}]),
        [(DUPLICATE, "spec.ports[1]")],
    ),
    "a bad port": (
        service(ports=[{"port": 0, "name": "a_b", "protocol": "X", "targetPort": "c_d"}]),
        [
            (INVALID, "spec.ports[0].name"),
            (INVALID, "spec.ports[0].port"),
            (UNSUPPORTED, "spec.ports[0].protocol"),
            (INVALID, "spec.ports[0].targetPort"),
        ],
    ),
    "a bad selector": (service(ports=[{"port": 1}], selector={"a b": "c"}), [(INVALID, "spec.selector")]),
    "an unknown type": (service(ports=[{"port": 1}], type="Open"), [(UNSUPPORTED, "spec.type")]),
    "no external name": (service(type="ExternalName"), [(REQUIRED, "spec.externalName")]),
}


@pytest.mark.parametrize(("body", "expected"), BAD_SERVICES.values(), ids=BAD_SERVICES)
def test_a_bad_service_is_refused(
    send: Send, namespace: str, body: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert causes(send(requests.create(SERVICES, body, namespace))) == expected


GOOD_SERVICES: dict[str, dict[str, Any]] = {
    "a name that begins with a digit": service("1s", ports=[{"port": 1}]),
    "headless without ports": service(clusterIP="None"),
    "an external name": service(type="ExternalName", externalName="example.com"),
    "the same port by two protocols": service(
        ports=[{"port": 53, "name": "tcp"}, {"port": 53, "name": "udp", "protocol": "UDP"}]
    ),
}


@pytest.mark.parametrize("body", GOOD_SERVICES.values(), ids=GOOD_SERVICES)
def test_a_service_at_the_edge_of_the_rules_is_accepted(send: Send, namespace: str, body: dict[str, Any]) -> None:
    assert send(requests.create(SERVICES, body, namespace)).status == 201


def test_a_namespace_is_named_by_a_label(send: Send) -> None:
    refused = send(requests.create(NAMESPACES, {"metadata": {"name": "a.b"}}))

    assert causes(refused) == [(INVALID, "metadata.name")]


def test_a_lease_has_a_positive_duration_and_counted_transitions(send: Send, namespace: str) -> None:
    body = {"metadata": {"name": "l"}, "spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1}}

    refused = send(requests.create(LEASES, body, namespace))

    assert refusal(refused)[2] == (
        'Lease.coordination.k8s.io "l" is invalid: ['
        "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0, "
        "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0]"
    )


@pytest.mark.parametrize("time", ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z", "now", 5])
def test_times_of_a_lease_have_six_decimals(send: Send, namespace: str, time: Any) -> None:
    body = lease("l", "one")
    body["spec"]["renewTime"] = time

    assert refusal(send(requests.create(LEASES, body, namespace)))[:2] == (400, "BadRequest")


BAD_EVENTS: dict[str, tuple[str, Any, list[tuple[str, str]]]] = {
    "no reason": ("reason", "", [(REQUIRED, "reason")]),
    "long reason": ("reason", "x" * 129, [(INVALID, "reason")]),
    "long note": ("note", "x" * 1025, [(INVALID, "message")]),
    "no action": ("action", "", [(REQUIRED, "action")]),
    "no instance": ("reportingInstance", "", [(REQUIRED, "reportingInstance")]),
    "long instance": ("reportingInstance", "x" * 129, [(INVALID, "reportingInstance")]),
    "no controller": (
        "reportingController",
        "",
        [(REQUIRED, "reportingController"), (INVALID, "reportingController")],
    ),
    "unknown type": ("type", "Severe", [(INVALID, "type")]),
    "no time": ("eventTime", None, [(REQUIRED, "eventTime")]),
    "about nothing": ("regarding", {"kind": "Service"}, [(INVALID, "involvedObject.namespace")]),
}


@pytest.mark.parametrize(("field", "value", "expected"), BAD_EVENTS.values(), ids=BAD_EVENTS)
def test_a_bad_event_is_refused(
    send: Send, namespace: str, field: str, value: Any, expected: list[tuple[str, str]]
) -> None:
    event = {
        "metadata": {"name": "e"},
        "regarding": {"kind": "Service", "namespace": namespace, "name": "cart"},
        "reason": "Skipped",
        "type": "Normal",
        "action": "Reconcile",
        "reportingController": "hedgerow/networkpolicy",
        "reportingInstance": "host",
        "eventTime": "2026-01-01T00:00:00.000000Z",
        field: value,
    }

    refused = send(requests.create(EVENTS, event, namespace))

    assert causes(refused) == expected
    assert refused.body["message"].startswith('Event "e" is invalid: ')


def test_a_generated_name_is_a_name(send: Send, namespace: str) -> None:
    body = {**config_map(""), "metadata": {"generateName": "Bad_"}}

    refused = send(requests.create(CONFIG_MAPS, body, namespace))

    assert causes(refused) == [(INVALID, "metadata.generateName"), (INVALID, "metadata.name")]
