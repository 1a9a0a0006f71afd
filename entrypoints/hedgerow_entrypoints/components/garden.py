"""The controllers that go by a Garden, and where the offline commands find one."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

from returns.result import Failure

from hedgerow.api.gardener import GARDENS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import Kind, Manifest, key_of
from hedgerow.machinery.questions import Answer, Found, ListQuestion
from hedgerow.operator.namespace_network_policies.controller import (
    NamespacePolicySettings,
    namespace_network_policy_controller,
    register,
)
from hedgerow_adapters.files import LoadedObject
from hedgerow_adapters.files.loaded import printable
from hedgerow_entrypoints.components.registry import ControllerEntry
from hedgerow_entrypoints.errors import CommandError, note

NAMESPACE_NETWORK_POLICY: Final = "operator/networkpolicy"
EVERY_GARDEN: Final = ListQuestion(GARDENS, Cluster.TARGET)

Gardens: TypeAlias = Callable[[], Sequence[Manifest]]
"""Finds out which Gardens there are."""


def namespace_network_policy(gardens: Gardens) -> Controller[Any]:
    """The controller of the policies of namespaces, for the networks that the first Garden names.

    Args:
        gardens: finds out which Gardens there are.

    Raises:
        CommandError: there is none, or it does not name its networks.
    """
    found = gardens()
    if not found:
        kind = f"{GARDENS.kind} ({GARDENS.api_version})"
        raise CommandError(
            f"{NAMESPACE_NETWORK_POLICY} takes the networks of the cluster from "
            f"spec.runtimeCluster.networking of a {kind}, and there is none"
        )
    garden, *others = found
    if others:
        names = ", ".join(printable(key_of(each).name) for each in others)
        note(f"note: only the first Garden counts, {printable(key_of(garden).name)}; left out: {names}")
    config = register(already=False, garden=garden, settings=NamespacePolicySettings())
    if isinstance(config, Failure):
        raise CommandError(str(config.failure()))
    registered = config.unwrap()
    assert registered is not None  # noqa: S101 -- a Garden that exists is registered
    return namespace_network_policy_controller(registered)


OPERATOR: Final[tuple[ControllerEntry[Gardens], ...]] = (
    ControllerEntry(
        NAMESPACE_NETWORK_POLICY,
        lambda gardens, _cluster_id: namespace_network_policy(gardens),
        aliases=("namespace-network-policy",),
    ),
)
"""The controllers of the Gardener operator."""


def gardens_in(objects: Iterable[LoadedObject]) -> list[Manifest]:
    """The Gardens in files, in the order of their documents."""
    return [each.manifest for each in objects if Kind.of(each.manifest) == GARDENS.object_kind]


def gardens_told(answer: Answer) -> Sequence[Manifest]:
    """The Gardens that a cluster has told of, by name; none where it does not know what a Garden is.

    Raises:
        CommandError: it did not tell.
    """
    if isinstance(answer, Found):
        return sorted(answer.objects, key=key_of)
    if answer.is_not_found:
        return ()
    raise CommandError(f"{GARDENS} cannot be listed: {answer.message}")
