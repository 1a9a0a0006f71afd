"""The Gardener operator, of which there is no process yet: its controllers, and the Garden that they go by."""

from typing import Final

from returns import result

from hedgerow.api.gardener import GARDENS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import key_of
from hedgerow.machinery.questions import Found, ListQuestion
from hedgerow.operator.namespace_network_policies.controller import namespace_network_policy_controller, register
from hedgerow.operator.namespace_network_policies.views import NamespacePolicyConfig
from hedgerow_adapters.files.sources import printable
from hedgerow_entrypoints.components.registry import Ask, Component, ControllerEntry
from hedgerow_entrypoints.errors import CommandError, note

NAMESPACE_NETWORK_POLICY: Final = "operator/networkpolicy"


def _networks(ask: Ask) -> NamespacePolicyConfig | Failure:
    answer = ask(ListQuestion(GARDENS, Cluster.TARGET))
    if not isinstance(answer, Found) and not answer.is_not_found:
        raise CommandError(f"{GARDENS} cannot be listed: {answer.message}")
    gardens = sorted(answer.objects, key=key_of) if isinstance(answer, Found) else []
    if not gardens:
        kind = f"{GARDENS.kind} ({GARDENS.api_version})"
        raise CommandError(
            f"{NAMESPACE_NETWORK_POLICY} takes the networks of the cluster from "
            f"spec.runtimeCluster.networking of a {kind}, and there is none"
        )
    garden, *others = gardens
    if others:
        names = ", ".join(printable(key_of(each).name) for each in others)
        note(f"note: only the first Garden counts, {printable(key_of(garden).name)}; left out: {names}")
    config = register(garden)
    if isinstance(config, result.Failure):
        failure: Failure = config.failure()
        return failure
    registered = config.unwrap()
    assert registered is not None  # noqa: S101 -- a Garden that exists is registered
    return registered


COMPONENT: Final = Component(
    name="operator",
    controllers=(
        ControllerEntry(
            NAMESPACE_NETWORK_POLICY,
            lambda networks, _cluster_id: namespace_network_policy_controller(networks),
            aliases=("namespace-network-policy",),
        ),
    ),
    without_file=_networks,
)
