"""The controller that approves or denies the certificates that kubelets serve with, declared.

A request is looked at when it is new or has changed, and not when its Node or a Machine has: kubelets that were denied
ask again. What is undecodable is no reason to deny, as it may be this process that cannot read it; it is tried again.

Source: network-and-nodes §6.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from returns.pipeline import is_successful
from returns.result import Result

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Context, Controller, Watch
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.field_selectors import field_query
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.permissions import Permission
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.reading import UnreadableError, text_at
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.kubelet_certificates.looking import (
    MACHINES_BY_NODE,
    NODE_LABEL,
    Look,
    Unknown,
    as_it_is,
    kept_of_machine,
    with_machines,
    with_node,
)
from hedgerow.resource_manager.kubelet_certificates.policy import (
    CHECKS_OF_THE_REQUEST,
    CHECKS_WITH_THE_MACHINES,
    CHECKS_WITH_THE_NODE,
    Check,
    Evidence,
    denial_reason,
)
from hedgerow.resource_manager.kubelet_certificates.request import CertificateRequest
from hedgerow.resource_manager.kubelet_certificates.resources import (
    CERTIFICATE_SIGNING_REQUESTS,
    KUBELET_SERVING,
    MACHINES,
    NODES,
)
from hedgerow.resource_manager.kubelet_certificates.verdict import (
    APPROVAL,
    approval,
    awaits_verdict,
    denial,
    encoded_request,
    kept_of_request,
)

NAME: Final = "kubelet-csr-approver"
DEFAULT_CONCURRENCY: Final = 1

_OF_KUBELETS: Final = field_query({"spec.signerName": KUBELET_SERVING})
_STAGES: Final[tuple[tuple[Look, tuple[Check, ...]], ...]] = (
    (as_it_is, CHECKS_OF_THE_REQUEST),
    (with_node, CHECKS_WITH_THE_NODE),
    (with_machines, CHECKS_WITH_THE_MACHINES),
)


@dataclass(frozen=True, slots=True)
class KubeletCertificateConfig:
    """How requests are read, and where the Machines of Nodes are."""

    decode: Callable[[bytes], Result[CertificateRequest, str]]
    """The content of a certificate request in PEM, or why it cannot be read, as one clause."""
    machine_namespace: str = ""
    """In the source cluster; empty: any namespace."""
    namespaces: tuple[str, ...] = ()
    """The only ones of the source cluster that are in sight; none: all are."""


def kubelet_csr_approver(
    config: KubeletCertificateConfig, concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[KubeletCertificateConfig]:
    """The controller for a configuration.

    Args:
        config: how requests are read, and where Machines are.
        concurrency: how many requests are decided about at once.
    """
    return Controller(
        name=NAME,
        primary=CERTIFICATE_SIGNING_REQUESTS,
        watches=(
            Watch(
                CERTIFICATE_SIGNING_REQUESTS,
                kept_of_request,
                _own_key,
                _may_be_undecided,
                field_selector=_OF_KUBELETS,
                asks=True,
            ),
            Watch(
                MACHINES,
                kept_of_machine,
                _no_key,
                metadata_only=True,
                cluster=Cluster.SOURCE,
                optional=True,
                essential=False,
                label_selector=NODE_LABEL,
                namespace=config.machine_namespace,
            ),
        ),
        indexes=(MACHINES_BY_NODE,),
        owned=None,
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        permissions=(
            Permission.of(CERTIFICATE_SIGNING_REQUESTS, "update", subresource=APPROVAL),
            Permission(
                CERTIFICATE_SIGNING_REQUESTS.group, "signers", ("approve",), names=(KUBELET_SERVING,), namespaced=False
            ),
            Permission.of(NODES, "get"),
            Permission.of(MACHINES, "get", "list", cluster=Cluster.SOURCE, namespace=config.machine_namespace),
        ),
    )


def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[KubeletCertificateConfig]) -> Plan:
    """Approve or deny one request that nobody has decided about yet.

    Source: network-and-nodes §6.3.
    """
    csr = snapshot.get(CERTIFICATE_SIGNING_REQUESTS, key)
    try:
        return Plan() if csr is None or not awaits_verdict(csr) else _decided(csr, snapshot, context)
    except UnreadableError as error:
        return _failed(key, "", str(error), retryable=False)


def _decided(csr: Manifest, snapshot: Snapshot, context: Context[KubeletCertificateConfig]) -> Plan:
    """The verdict on a request: the checks in their order, each as soon as all is known that it looks at."""
    config = context.config
    content = context.notes.once("content", (csr,), lambda: encoded_request(csr).bind(config.decode))
    if not is_successful(content):
        return _failed(key_of(csr), "spec.request", f"unable to parse csr: {content.failure()}")
    username = text_at(csr, "spec", "username") or ""
    evidence = Evidence(
        username, content.unwrap(), machine_namespace=config.machine_namespace, namespaces=config.namespaces
    )
    for look, checks in _STAGES:
        match look(evidence, snapshot, context.answers):
            case Evidence() as seen:
                evidence = seen
            case Unknown(problem):
                return _failed(key_of(csr), "", f"failed when checking for approval conditions: {problem}")
            case questions:
                return Plan(questions=questions)
        if (reason := denial_reason(evidence, checks)) is not None:
            return Plan((denial(csr, reason),))
    return Plan((approval(csr),))


def _failed(key: ObjectKey, field: str, problem: str, *, retryable: bool = True) -> Plan:
    return Plan(failures=(DomainFailure(CERTIFICATE_SIGNING_REQUESTS, key, field, problem, retryable),))


def _own_key(csr: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    return (key_of(csr),)


def _no_key(_machine: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    return ()


def _may_be_undecided(change: Change) -> bool:
    """Whether there is anything to decide after a change: not about what is gone."""
    return change.new is not None and awaits_verdict(change.new)
