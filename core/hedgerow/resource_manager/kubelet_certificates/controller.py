"""The controller that approves or denies the certificates that kubelets serve with.

A request is decided when it is new or has changed, and not when its Node or a Machine has: denied kubelets ask again.
If it waits because another Node lists a name of it, it is decided when a Node gives a name up, too. A request that
cannot be decoded is retried, as the fault may be this process's. A verdict is final: an API server refuses to take it
back.

Source: network-and-nodes §6.
"""

from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from returns.result import Failure as Undecodable
from returns.result import Result

from hedgerow.api.gardener import MACHINES
from hedgerow.api.kubernetes import CERTIFICATE_SIGNING_REQUESTS, KUBELET_SERVING, NODES, SERVICES
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.conditions import conditions_of
from hedgerow.machinery.controller import Change, Context, Controller, Watch, no_key, own_key
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, uid_of
from hedgerow.machinery.plan import Event, Plan, Update, failed
from hedgerow.machinery.reading import UnreadableError, keeping, list_at, text_at, with_value
from hedgerow.machinery.selectors import field_query
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.resource_manager.kubelet_certificates.evidence import (
    API_SERVER,
    MACHINES_BY_NODE,
    NODE_LABEL,
    NODES_BY_NAME,
    Conflict,
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
    Evidence,
    Network,
    denial_reason,
)

DEFAULT_CONCURRENCY: Final = 1
RETRY: Final = 60.0
"""Seconds after which a request that waits is decided again, and its event renewed."""
_UNDECIDED: Final = Index(
    "undecided requests by signer",
    CERTIFICATE_SIGNING_REQUESTS,
    lambda csr: (KUBELET_SERVING,) if awaits_verdict(csr) else (),
)
_READS: Final = ((with_node, CHECKS_WITH_THE_NODE), (with_machines, CHECKS_WITH_THE_MACHINES))


@dataclass(frozen=True, slots=True)
class KubeletCertificateConfig:
    """How requests are read, and where the Machines of Nodes are."""

    decode: Callable[[bytes], Result[CertificateRequest, str]]
    """The content of a certificate request in PEM, or why it cannot be read, as one clause."""
    machine_namespace: str = ""
    """In the source cluster; empty: any namespace."""
    namespaces: tuple[str, ...] = ()
    """The namespaces of the source cluster that the process reads; none: all."""
    service_networks: tuple[Network, ...] = ()
    """The networks of Services in the target cluster."""


def kubelet_csr_approver(
    config: KubeletCertificateConfig, concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[KubeletCertificateConfig]:
    """The controller for a configuration."""
    csrs, namespace = CERTIFICATE_SIGNING_REQUESTS, config.machine_namespace
    return Controller(
        name="kubelet-csr-approver",
        primary=CERTIFICATE_SIGNING_REQUESTS,
        watches=(
            Watch(
                csrs,
                transform_request,
                own_key,
                _may_be_undecided,
                field_selector=field_query({"spec.signerName": KUBELET_SERVING}),
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
                namespace=namespace,
            ),
            Watch(NODES, transform_node, _undecided_requests, gives_a_name_up),
        ),
        indexes=(MACHINES_BY_NODE, NODES_BY_NAME, _UNDECIDED),
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        permissions=(
            Permission.of(csrs, "update", subresource="approval"),
            Permission(csrs.group, "signers", ("approve",), names=(KUBELET_SERVING,), namespaced=False),
            Permission.of(NODES, "get"),
            Permission.of(SERVICES, "get", namespace=API_SERVER.key.namespace, names=(API_SERVER.key.name,)),
            Permission.of(MACHINES, "get", "list", cluster=Cluster.SOURCE, namespace=namespace),
        ),
    )


def _undecided_requests(_node: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
    return [key_of(csr) for csr in snapshot.by_index(_UNDECIDED, KUBELET_SERVING)]


def _may_be_undecided(change: Change) -> bool:
    return change.new is not None and awaits_verdict(change.new)


def awaits_verdict(csr: Manifest) -> bool:
    """True if a kubelet asks for a serving certificate and no verdict is there; failed signing is none."""
    return text_at(csr, "spec", "signerName") == KUBELET_SERVING and not is_decided(csr)


def is_decided(csr: Manifest) -> bool:
    """True if a request has a condition of approval or denial, whatever its status, or a certificate."""
    has_certificate = bool(text_at(csr, "status", "certificate"))
    return has_certificate or any(condition.type in {"Approved", "Denied"} for condition in conditions_of(csr))


def transform_request(csr: Manifest) -> Manifest:
    """An undecided request without managed fields, as it is written back; of others, that they are decided."""
    metadata: dict[str, Any] = {**(csr.get("metadata") or {})}
    if not is_decided(csr):
        metadata.pop("managedFields", None)
        return {**csr, "metadata": metadata}
    decisive = "conditions" if csr["status"].get("conditions") else "certificate"
    identity = ("metadata.name", "metadata.uid", "metadata.resourceVersion")
    return keeping(*identity, "spec.signerName", f"status.{decisive}")(csr)


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
        return failed(Failure(CERTIFICATE_SIGNING_REQUESTS, key, error.problem))


def _undecided(key: ObjectKey, snapshot: Snapshot) -> Manifest | None:
    csr = snapshot.get(CERTIFICATE_SIGNING_REQUESTS, key)
    return csr if csr is not None and awaits_verdict(csr) else None


async def _verdict(
    csr: Manifest, snapshot: Snapshot, config: KubeletCertificateConfig
) -> str | Conflict | Problem | None:
    """The reason to deny a request, or the conflict that it waits for, or why nobody can tell; none: it is approved.

    Each check is made as soon as everything is known that it reads.
    """
    try:
        content = config.decode(b64decode(text_at(csr, "spec", "request") or "", validate=True))
    except ValueError:
        content = Undecodable("not encoded in base64")
    if isinstance(content, Undecodable):
        return Problem("spec.request", f"unable to parse csr: {content.failure()}")
    evidence = Evidence(
        text_at(csr, "spec", "username") or "",
        content.unwrap(),
        frozenset(group for group in list_at(csr, "spec", "groups") if isinstance(group, str)),
        config.service_networks,
        machine_namespace=config.machine_namespace,
        namespaces=config.namespaces,
    )
    reason = denial_reason(evidence, CHECKS_OF_THE_REQUEST)
    for read, checks in _READS:
        if reason is not None:
            return reason
        known = await read(evidence, snapshot)
        if isinstance(known, str):
            return Problem("", f"failed when checking for approval conditions: {known}")
        evidence = known
        reason = denial_reason(evidence, checks)
    return conflict(evidence.request, snapshot) if reason is None else reason


def _plan(csr: Manifest, verdict: str | Conflict | Problem | None) -> Plan:
    """The plan for a verdict. In a conflict the request waits until another Node has given a name up."""
    resource, key = CERTIFICATE_SIGNING_REQUESTS, key_of(csr)
    if isinstance(verdict, Problem):
        return failed(Failure(resource, key, verdict, retryable=True))
    if isinstance(verdict, Conflict):
        event = Event(resource, key, uid_of(csr), "Warning", "NodeAddressConflict", str(verdict))
        return Plan(events=(event,), requeue_after=RETRY)
    decision, message = "Approved", "Approving kubelet server certificate CSR (all checks passed)"
    if verdict is not None:
        decision, message = "Denied", f"Denying kubelet server certificate CSR ({verdict})"
    # The API server adds the times.
    condition = {"type": decision, "status": "True", "reason": f"Request{decision}", "message": message}
    decided = with_value(csr, ("status", "conditions"), [*list_at(csr, "status", "conditions"), condition])
    manifest = {**decided, "apiVersion": resource.api_version, "kind": resource.kind}
    return Plan((Update(resource, manifest, f"certificate-{decision.lower()}", subresource="approval"),))
