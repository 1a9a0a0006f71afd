"""The controller that approves or denies the certificates that kubelets serve with, declared.

A request is looked at when it is new or has changed, and not when its Node or a Machine has: kubelets that were denied
ask again. One that waits because another Node lists a name of it is looked at when a Node gives a name up, too. What is
undecodable is no reason to deny, as it may be this process that cannot read it; it is tried again.

Source: network-and-nodes §6.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from returns.pipeline import is_successful
from returns.result import Result

from hedgerow.api.gardener import MACHINES
from hedgerow.api.kubernetes import CERTIFICATE_SIGNING_REQUESTS, KUBELET_SERVING, NODES, SERVICES
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Change, Context, Controller, Watch, no_key, own_key
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, uid_of
from hedgerow.machinery.plan import Event, Plan, failed
from hedgerow.machinery.reading import UnreadableError, text_at
from hedgerow.machinery.selectors import field_query
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.resource_manager.kubelet_certificates.looking import (
    API_SERVER,
    MACHINES_BY_NODE,
    NODE_LABEL,
    NODES_BY_NAME,
    Conflict,
    Look,
    Unknown,
    conflict,
    gives_a_name_up,
    transform_machine,
    transform_node,
    with_machines,
    with_node,
)
from hedgerow.resource_manager.kubelet_certificates.policy import (
    CHECKS_OF_THE_REQUEST,
    CHECKS_WITH_THE_MACHINES,
    CHECKS_WITH_THE_NODE,
    CertificateRequest,
    Check,
    Evidence,
    Network,
    denial_reason,
)
from hedgerow.resource_manager.kubelet_certificates.verdict import (
    APPROVAL,
    approval,
    awaits_verdict,
    denial,
    encoded_request,
    groups_of,
    transform_request,
)

NAME: Final = "kubelet-csr-approver"
DEFAULT_CONCURRENCY: Final = 1

CONFLICT: Final = "NodeAddressConflict"
"""Reason of the event that tells why a request waits."""
RETRY: Final = 60.0
"""Seconds after which a request that waits is looked at again, and its event renewed."""

_UNDECIDED: Final = Index(
    "undecided requests by signer",
    CERTIFICATE_SIGNING_REQUESTS,
    lambda csr: (KUBELET_SERVING,) if awaits_verdict(csr) else (),
)
_OF_KUBELETS: Final = field_query({"spec.signerName": KUBELET_SERVING})
_LOOKS: Final[tuple[tuple[Look, tuple[Check, ...]], ...]] = (
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
    service_networks: tuple[Network, ...] = ()
    """Where the addresses of Services are in the target cluster."""


def kubelet_csr_approver(
    config: KubeletCertificateConfig, concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[KubeletCertificateConfig]:
    """The controller for a configuration."""
    return Controller(
        name=NAME,
        primary=CERTIFICATE_SIGNING_REQUESTS,
        watches=(
            Watch(
                CERTIFICATE_SIGNING_REQUESTS,
                transform_request,
                own_key,
                _may_be_undecided,
                field_selector=_OF_KUBELETS,
                is_desired_state=True,
            ),
            Watch(
                MACHINES,
                transform_machine,
                no_key,
                metadata_only=True,
                cluster=Cluster.SOURCE,
                may_be_absent=True,
                required_for_sync=False,
                label_selector=NODE_LABEL,
                namespace=config.machine_namespace,
            ),
            Watch(NODES, transform_node, _undecided_requests, gives_a_name_up),
        ),
        indexes=(MACHINES_BY_NODE, NODES_BY_NAME, _UNDECIDED),
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
            Permission.of(SERVICES, "get", namespace=API_SERVER.key.namespace, names=(API_SERVER.key.name,)),
            Permission.of(MACHINES, "get", "list", cluster=Cluster.SOURCE, namespace=config.machine_namespace),
        ),
    )


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[KubeletCertificateConfig]) -> Plan:
    """Approve or deny one undecided request.

    Source: network-and-nodes §6.3.
    """
    try:
        csr = _undecided(key, snapshot)
        if csr is None:
            return Plan()
        verdict = await _verdict(csr, snapshot, context.config)
        latest = _undecided(key, snapshot)
        return Plan() if latest is None or uid_of(latest) != uid_of(csr) else _plan(latest, verdict)
    except UnreadableError as error:
        return failed(_failure(key, error.problem.path, error.problem.text, retryable=False))


def _undecided(key: ObjectKey, snapshot: Snapshot) -> Manifest | None:
    csr = snapshot.get(CERTIFICATE_SIGNING_REQUESTS, key)
    return csr if csr is not None and awaits_verdict(csr) else None


async def _verdict(
    csr: Manifest, snapshot: Snapshot, config: KubeletCertificateConfig
) -> str | Conflict | Failure | None:
    """The reason to deny a request, the conflict that it has to wait for, or none of it: the request is approved.

    Checks in their order, each as soon as everything is known that it needs.

    Raises:
        UnreadableError: the request has another shape than an API server stores.
    """
    content = encoded_request(csr).bind(config.decode)
    if not is_successful(content):
        return _failure(key_of(csr), "spec.request", f"unable to parse csr: {content.failure()}")
    evidence = Evidence(
        text_at(csr, "spec", "username") or "",
        content.unwrap(),
        groups_of(csr),
        config.service_networks,
        machine_namespace=config.machine_namespace,
        namespaces=config.namespaces,
    )
    if (reason := denial_reason(evidence, CHECKS_OF_THE_REQUEST)) is not None:
        return reason
    for look, checks in _LOOKS:
        seen = await look(evidence, snapshot)
        if isinstance(seen, Unknown):
            return _failure(key_of(csr), "", f"failed when checking for approval conditions: {seen.problem}")
        evidence = seen
        if (reason := denial_reason(evidence, checks)) is not None:
            return reason
    return conflict(evidence.request, snapshot)


def _plan(csr: Manifest, verdict: str | Conflict | Failure | None) -> Plan:
    """What is done about a request: in a conflict it waits until another Node has given a name up."""
    match verdict:
        case Failure():
            return failed(verdict)
        case Conflict():
            event = Event(CERTIFICATE_SIGNING_REQUESTS, key_of(csr), uid_of(csr), "Warning", CONFLICT, str(verdict))
            return Plan(events=(event,), requeue_after=RETRY)
        case None:
            return Plan((approval(csr),))
        case reason:
            return Plan((denial(csr, reason),))


def _failure(key: ObjectKey, field: str, problem: str, *, retryable: bool = True) -> Failure:
    return Failure(CERTIFICATE_SIGNING_REQUESTS, key, Problem(field, problem), retryable)


def _undecided_requests(_node: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
    return [key_of(csr) for csr in snapshot.by_index(_UNDECIDED, KUBELET_SERVING)]


def _may_be_undecided(change: Change) -> bool:
    """Whether there is anything to decide after a change: not about what is gone."""
    return change.new is not None and awaits_verdict(change.new)
