"""All controllers, and objects that give each of them something to decide, with a canary wherever a secret may be."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from hedgerow.api.kubernetes import SECRETS
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.recording.codec import Json, encoded
from hedgerow.machinery.recording.journal import Journal, Part
from hedgerow.machinery.recording.playback import Redaction, States, played
from hedgerow.operator.namespace_network_policies.controller import namespace_network_policy_controller
from hedgerow.resource_manager.kubelet_certificates import KubeletCertificateConfig, kubelet_csr_approver
from hedgerow.resource_manager.nodes import NodeConfig, node_controller
from hedgerow.resource_manager.token_invalidation import token_invalidator
from hedgerow_adapters.certificate_requests import decoded_request
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.recording import record_lines
from tests.e2e.canaries import Canaries
from tests.kubelet_requests import csr_manifest, kubelet_request
from tests.unit.adapters.recording import session
from tests.unit.adapters.recording.session import Session, documents
from tests.unit.adapters.recording.session import encoded as base64_of
from tests.unit.adapters.runtime.world import CART, NAMESPACES, PODS_OF_WEB, POLICIES, SERVICES, service
from tests.unit.confidential_objects import MALFORMED, PLACES, Place
from tests.unit.core.operator.namespace_network_policies.objects import CONFIG
from tests.unit.core.resource_manager.managed_resources.harness import config_map, managed_resource
from tests.unit.core.resource_manager.nodes.surroundings import node
from tests.unit.core.resource_manager.token_invalidation.accounts import service_account
from tests.unit.core.resource_manager.token_invalidation.accounts import token_secret as invalid_token
from tests.unit.core.resource_manager.token_requests.harness import ACCOUNT, kubeconfig, token_secret
from tests.unit.proof.landscapes import INGRESSES, neglected

OVERWRITTEN: Final = "a key of an unknown field"
"""Another place is in the same field."""
BESIDE_DATA: Final = {place: PLACES[place] for place in ("a copy", "an annotation")}
GARBAGE: Final = "resources.gardener.cloud/garbage-collectable-reference"


def controllers() -> list[Controller[Any]]:
    """Those of the resource manager."""
    return [
        *session.controllers(),
        kubelet_csr_approver(KubeletCertificateConfig(decoded_request, "shoot")),
        node_controller(NodeConfig()),
        token_invalidator(),
    ]


def of_operator() -> list[Controller[Any]]:
    """Those of the operator, one of which has the name of another one of the resource manager."""
    return [namespace_network_policy_controller(CONFIG)]


PROCESSES: Final[Mapping[str, Callable[[], list[Controller[Any]]]]] = {
    "resource-manager": controllers,
    "operator": of_operator,
}


def secret(
    name: str, canary: Callable[[str], str], places: Mapping[str, Place] = PLACES, **members: Any
) -> dict[str, Any]:
    """A Secret with canaries in all these places."""
    metadata = {"name": name, "namespace": "default", **members.pop("metadata", {})}
    made = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, **members}
    for place, put in places.items():
        put(made, canary(f"{place} of {name}"))
    return made


def holder(name: str, canary: Callable[[str], str], *manifests: Mapping[str, Any]) -> dict[str, Any]:
    """A Secret with manifests, as a ManagedResource refers to it."""
    return {**secret(name, canary, BESIDE_DATA), "data": {"objects.yaml": base64_of(documents(*manifests))}}


def objects(canaries: Canaries) -> list[dict[str, Any]]:
    """What all controllers are to find."""
    canary = canaries.new
    inner = secret("inner", canary)
    keyed = secret("keyed", canary, {OVERWRITTEN: PLACES[OVERWRITTEN]})
    broken = [secret(f"malformed-{at}", canary, {place: put}) for at, (place, put) in enumerate(MALFORMED.items())]
    outer = holder("outer", canary, inner, keyed, config_map("managed"), config_map("drifted"))
    outer["data"]["notes"] = base64_of(f"# {canary('comment')}\n")
    malformed = holder("malformed", canary, *broken, config_map("beside"))
    unreadable = {
        **secret("unreadable", canary, BESIDE_DATA),
        "data": {"a.yaml": base64_of(f"kind: [{canary('broken document')}")},
    }
    garbage = secret("garbage", canary, immutable=True, metadata={"labels": {GARBAGE: "true"}})
    invalidated = invalid_token()
    invalidated["data"] = {"token": base64_of(canary("token of a ServiceAccount")), "ca.crt": "Y2E="}
    account = {"name": ACCOUNT.name, "namespace": ACCOUNT.namespace}
    typed_node = {"apiVersion": "v1", "kind": "Node", **node()}
    typed_node["status"] = {"addresses": [{"type": "Hostname", "address": "node-1"}]}
    return [
        outer,
        malformed,
        unreadable,
        managed_resource("outer"),
        managed_resource("malformed", name="malformed"),
        managed_resource("unreadable", name="broken"),
        garbage,
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account},
        token_secret({"kubeconfig": kubeconfig(canary("kubeconfig"))}),
        token_secret({"token": canary("old token")}, key=ObjectKey("bar", "plain")),
        invalidated,
        service_account(invalidated["metadata"]["name"], automount=False),
        service(CART, PODS_OF_WEB),
        csr_manifest("csr-1", kubelet_request("node-1", ["node-1"], ["10.0.0.1"])),
        typed_node,
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "garden"}},
    ]


def recorded(path: Path, canaries: Canaries, redaction: Redaction, process: str = "resource-manager") -> Session:
    """A process at work for some hours, until it has ended: objects appear, change, drift and go."""
    made = Session(path, PROCESSES[process](), redaction=redaction)
    made.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}})
    network = neglected(seed=3, deeds=30)
    made.put(*(each for kind in (NAMESPACES, SERVICES, INGRESSES, POLICIES) for each in network.objects(kind)))
    first = objects(canaries)
    made.put(*first)
    made.work(rounds=2)
    made.clock.advance(timedelta(hours=13).total_seconds())
    made.work()
    replaced = secret("inner", canaries.new)
    made.put(
        holder("outer", canaries.new, replaced, config_map("managed", {"k": "other"})),
        config_map("managed", {"k": "changed by hand"}),
    )
    made.work(rounds=2)
    made.cluster.handle(requests.delete(SECRETS, ObjectKey("bar", "plain")))
    made.work()
    made.end()
    return made


def decided_again(folder: Path) -> list[list[Json]]:
    """All steps and plans of the records of all processes, decided again: exactly, in the order that they have."""
    decided = []
    for process, declared in PROCESSES.items():
        by_name = {each.name: each for each in declared()}
        states = States()
        for _, line in record_lines(folder / process):
            if isinstance(line, Journal):
                decided.append(_decided_again(line, by_name[line.controller], states))
    return decided


def _decided_again(journal: Journal, controller: Controller[Any], states: States) -> list[Json]:
    wanted: list[Json] = []
    for part in played(controller, journal, states.of(journal)):
        if isinstance(part.wants, Plan):
            states.leave(journal.controller, journal.key, part.wants)
        wanted.append(encoded(replace(part.wants, state=None) if isinstance(part.wants, Plan) else part.wants))
    return wanted


class NothingIsSecret:
    """No redaction, so that what is recorded is the live decisions."""

    def redacted(self, parts: Sequence[Part]) -> Sequence[Part]:
        return parts


if __name__ == "__main__":
    import json
    import sys

    json.dump(decided_again(Path(sys.argv[1])), sys.stdout)
