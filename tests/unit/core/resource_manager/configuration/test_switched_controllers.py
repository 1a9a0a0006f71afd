"""The sections of the controllers for kubelet certificates, nodes and tokens, which have a switch."""

from collections.abc import Callable
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import pytest

from hedgerow.machinery.configuration.reading import ConfigurationErrors
from hedgerow.machinery.configuration.section import Purpose
from hedgerow.resource_manager.configuration import Decoded, decode
from hedgerow.resource_manager.configuration.controllers import (
    KubeletCSRApproverSettings,
    NodeSettings,
    TokenInvalidatorSettings,
    TokenRequestorSettings,
)

Answer = Callable[[str], Decoded]
INVALIDATING = "webhooks: {tokenInvalidator: {enabled: true}}"


@pytest.mark.parametrize("section", ["{}", "{enabled: false}", "null"])
@pytest.mark.parametrize("name", ["kubeletCSRApprover", "node", "tokenInvalidator", "tokenRequestor"])
def test_what_is_off_gets_no_defaults(name: str, section: str, decoded: Answer) -> None:
    configuration = decoded(f"controllers: {{{name}: {section}}}").configuration

    assert configuration.controllers.kubelet_csr_approver == KubeletCSRApproverSettings(
        enabled=False, concurrent_syncs=None, machine_namespace="", service_networks=()
    )
    assert configuration.controllers.node == NodeSettings(enabled=False, concurrent_syncs=None, backoff=None)
    assert configuration.controllers.token_invalidator == TokenInvalidatorSettings(enabled=False, concurrent_syncs=None)
    assert configuration.controllers.token_requestor == TokenRequestorSettings(
        enabled=False, concurrent_syncs=None, class_name=None, audiences=(), target_namespace=""
    )


def test_what_is_on_gets_the_defaults_of_the_reference(decoded: Answer) -> None:
    configuration = decoded(f"""
        {{{INVALIDATING}, controllers: {{
          kubeletCSRApprover: {{enabled: true}},
          node: {{enabled: true}},
          tokenInvalidator: {{enabled: true}},
          tokenRequestor: {{enabled: true}},
        }}, targetClientConnection: {{}}}}
    """).configuration

    assert configuration.controllers.kubelet_csr_approver == KubeletCSRApproverSettings(
        enabled=True, concurrent_syncs=1, machine_namespace="", service_networks=()
    )
    assert configuration.controllers.node == NodeSettings(
        enabled=True, concurrent_syncs=5, backoff=timedelta(seconds=10)
    )
    assert configuration.controllers.token_invalidator == TokenInvalidatorSettings(enabled=True, concurrent_syncs=5)
    assert configuration.controllers.token_requestor == TokenRequestorSettings(
        enabled=True, concurrent_syncs=5, class_name=None, audiences=(), target_namespace=""
    )


@pytest.mark.parametrize(
    ("seen", "approver", "is_told"),
    [
        ("namespaces: [a, b]", "enabled: true, machineNamespace: c", True),
        ("namespace: a", "enabled: true, machineNamespace: c", True),
        ("namespaces: [a, b]", "machineNamespace: c", False),
        ("namespaces: [a, b]", "enabled: true, machineNamespace: b", False),
        ("namespaces: [a, b]", "enabled: true", False),
        ("namespaces: [a, '']", "enabled: true, machineNamespace: c", False),
        ("", "enabled: true, machineNamespace: c", False),
    ],
)
def test_machines_out_of_sight_are_told(decoded: Answer, seen: str, approver: str, *, is_told: bool) -> None:
    answer = decoded(f"{{sourceClientConnection: {{{seen}}}, controllers: {{kubeletCSRApprover: {{{approver}}}}}}}")

    told = "not among the namespaces of sourceClientConnection, so that no request of a kubelet is decided"
    assert answer.warnings == ((f"controllers.kubeletCSRApprover.machineNamespace: {told}",) if is_told else ())


def test_every_field_is_read(decoded: Answer) -> None:
    answer = decoded(f"""
        {{{INVALIDATING}, controllers: {{
          kubeletCSRApprover:
            {{enabled: true, concurrentSyncs: 2, machineNamespace: shoot--foo--bar, serviceNetworks: [100.64.0.0/13]}},
          node: {{enabled: true, concurrentSyncs: 3, backoff: 1m}},
          tokenInvalidator: {{enabled: true, concurrentSyncs: 4}},
          tokenRequestor:
            {{enabled: true, concurrentSyncs: 6, class: shoot, audiences: [b, a, b], targetNamespace: kube-system,
              sourceNamespaces: [d, c, d]}},
        }}}}
    """)
    configuration = answer.configuration

    assert answer.warnings == ()
    assert configuration.controllers.kubelet_csr_approver == KubeletCSRApproverSettings(
        enabled=True, concurrent_syncs=2, machine_namespace="shoot--foo--bar", service_networks=("100.64.0.0/13",)
    )
    assert configuration.controllers.kubelet_csr_approver.networks == (ip_network("100.64.0.0/13"),)
    assert configuration.controllers.node == NodeSettings(
        enabled=True, concurrent_syncs=3, backoff=timedelta(minutes=1)
    )
    assert configuration.controllers.token_invalidator == TokenInvalidatorSettings(enabled=True, concurrent_syncs=4)
    assert configuration.controllers.token_requestor == TokenRequestorSettings(
        enabled=True,
        concurrent_syncs=6,
        class_name="shoot",
        audiences=("b", "a", "b"),
        target_namespace="kube-system",
        source_namespaces=("d", "c", "d"),
    )
    assert configuration.controllers.token_requestor.each_audience == ("b", "a")


UNLIMITED = (
    "controllers.tokenRequestor.targetNamespace: Required value: source and target are one cluster, in which everybody "
    "who may write a Secret would get a token of any ServiceAccount: set targetNamespace, or sourceNamespaces, or "
    "namespaces of sourceClientConnection"
)


@pytest.mark.parametrize(
    "limit",
    [
        pytest.param("controllers: {tokenRequestor: {enabled: true}}", id="none"),
        pytest.param(
            "controllers: {tokenRequestor: {enabled: true, class: shoot}}", id="everybody-may-write-the-class"
        ),
        pytest.param(
            "{sourceClientConnection: {namespaces: ['']}, controllers: {tokenRequestor: {enabled: true}}}", id="all"
        ),
    ],
)
def test_in_one_cluster_a_token_requestor_without_a_limit_is_refused(
    limit: str, refusal: Callable[[str], ConfigurationErrors]
) -> None:
    assert str(refusal(limit)) == UNLIMITED


@pytest.mark.parametrize(
    "limit",
    [
        pytest.param("controllers: {tokenRequestor: {enabled: true, targetNamespace: robots}}", id="whose-tokens"),
        pytest.param("controllers: {tokenRequestor: {enabled: true, sourceNamespaces: [a]}}", id="who-may-ask"),
        pytest.param(
            "{sourceClientConnection: {namespaces: [a]}, controllers: {tokenRequestor: {enabled: true}}}", id="in-sight"
        ),
        pytest.param("{targetClientConnection: {}, controllers: {tokenRequestor: {enabled: true}}}", id="two-clusters"),
        pytest.param("controllers: {tokenRequestor: {enabled: false}}", id="off"),
    ],
)
def test_a_token_requestor_with_a_limit_is_accepted(limit: str, decoded: Answer) -> None:
    assert decoded(limit).warnings == ()


def test_a_class_that_is_empty_is_none(decoded: Answer) -> None:
    assert (
        decoded("controllers: {tokenRequestor: {class: ''}}").configuration.controllers.token_requestor.class_name
        is None
    )


BROKEN = [
    pytest.param(
        "kubeletCSRApprover",
        "concurrentSyncs: 0",
        "controllers.kubeletCSRApprover.concurrentSyncs: Invalid value: 0: must be at least 1",
        id="CFG-9",
    ),
    pytest.param(
        "node",
        "concurrentSyncs: -1",
        "controllers.node.concurrentSyncs: Invalid value: -1: must be at least 1",
        id="nobody looks at nodes",
    ),
    pytest.param(
        "tokenRequestor",
        "concurrentSyncs: 0",
        "controllers.tokenRequestor.concurrentSyncs: Invalid value: 0: must be at least 1",
        id="nobody requests tokens",
    ),
]
BROKEN_WHOEVER_ASKS = [
    *(
        pytest.param(
            "kubeletCSRApprover",
            f"serviceNetworks: [fd00::/64, '{text}']",
            "controllers.kubeletCSRApprover.serviceNetworks[1]: "
            f'Invalid value: "{text}": must be a network such as 100.64.0.0/13',
            id=f"no network: {text}",
        )
        for text in ("100.64.0.1", "100.64.0.1/13", "services", "")
    ),
    pytest.param(
        "node",
        "backoff: 0s",
        "controllers.node.backoff: Invalid value: 0s: must be greater than zero",
        id="nodes are looked at without a break",
    ),
    pytest.param(
        "tokenRequestor",
        "class: a b",
        'controllers.tokenRequestor.class: Invalid value: "a b": must be empty or consist of A-Z, a-z, 0-9, "-", "_" '
        'and ".", starting and ending with a letter or digit, for example "MyValue" or "my_value"',
        id="a class that no Secret can have",
    ),
    pytest.param(
        "tokenRequestor",
        "audiences: [gardener, '']",
        "controllers.tokenRequestor.audiences[1]: Required value: must not be empty",
        id="an audience without a name",
    ),
    pytest.param(
        "tokenRequestor",
        "targetNamespace: kube.system",
        'controllers.tokenRequestor.targetNamespace: Invalid value: "kube.system": must not contain dots, '
        'for example "my-name" or "123-abc"',
        id="a namespace that cannot be",
    ),
    pytest.param(
        "tokenRequestor",
        "sourceNamespaces: [garden, '']",
        'controllers.tokenRequestor.sourceNamespaces[1]: Invalid value: "": must not be empty',
        id="a namespace without a name",
    ),
]


@pytest.mark.parametrize(("name", "field", "text"), [*BROKEN, *BROKEN_WHOEVER_ASKS])
def test_a_rule_binds_only_what_is_on(
    name: str, field: str, text: str, refusal: Callable[[str], ConfigurationErrors], decoded: Answer
) -> None:
    fragment = f"{{targetClientConnection: {{}}, controllers: {{{name}: {{enabled: true, {field}}}}}}}"
    assert str(refusal(fragment)) == text
    assert decoded(f"controllers: {{{name}: {{enabled: false, {field}}}}}").warnings == ()


@pytest.mark.parametrize(("name", "field", "text"), BROKEN_WHOEVER_ASKS)
def test_offline_what_decisions_go_by_is_looked_at_although_it_is_off(
    name: str, field: str, text: str, document: Callable[[str], dict[str, Any]]
) -> None:
    assert str(decode(document(f"controllers: {{{name}: {{{field}}}}}"), Purpose.OFFLINE).failure()) == text


@pytest.mark.parametrize(
    ("name", "alias"),
    [("tokenInvalidator", ()), ("tokenValidator", ("controllers.tokenValidator: is an alias of tokenInvalidator",))],
)
def test_less_than_one_worker_of_the_token_invalidator_is_one(
    name: str, alias: tuple[str, ...], decoded: Answer
) -> None:
    answer = decoded(f"{{{INVALIDATING}, controllers: {{{name}: {{enabled: true, concurrentSyncs: 0}}}}}}")

    assert answer.configuration.controllers.token_invalidator.workers == 1
    assert answer.warnings == (*alias, f"controllers.{name}: one worker runs instead of 0")


def test_workers_of_a_token_invalidator_that_is_off_are_nobodys_concern(decoded: Answer) -> None:
    assert decoded("controllers: {tokenInvalidator: {concurrentSyncs: 0}}").warnings == ()
