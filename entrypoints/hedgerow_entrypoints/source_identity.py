"""The id of the source cluster, which controllers have to be told when they are declared.

Expected flow: where the configuration names an id, or none, nobody is asked. Otherwise the cluster is, again and again
as long as it cannot answer for the time being; what it answers then is final, and where it is no id the process has to
end.

Source: managed-resources §4.4.
"""

from collections.abc import Callable
from typing import Final, TypeGuard

from returns.result import Failure

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.questions import Answer, NotAnswered, ObjectQuestion
from hedgerow.resource_manager.managed_resources.names import CONFIG_MAPS
from hedgerow.resource_manager.managed_resources.origin import CLUSTER_IDENTITY, asks_for_identity, cluster_id
from hedgerow_adapters.informer.backoff import restart_delay
from hedgerow_adapters.informer.recovery import Recovery
from hedgerow_adapters.kubernetes.questions import Questions
from hedgerow_adapters.runtime.clusters import Access
from hedgerow_adapters.telemetry import get_logger
from hedgerow_entrypoints.errors import CommandError

_IDENTITY: Final = ObjectQuestion(CONFIG_MAPS, CLUSTER_IDENTITY, Cluster.SOURCE)
_NOBODY_ASKED: Final = NotAnswered(500, "", "nobody was asked")
_TOO_MANY_REQUESTS: Final = 429
_SERVER_ERROR: Final = 500


async def determine_cluster_id(configured: str, source: Access, component: str, random: Callable[[], float]) -> str:
    """The effective id of the source cluster; empty where it has none.

    Args:
        configured: an id, or how to find one.
        source: the way to the cluster; that some namespaces are out of sight does not hide its identity.
        component: who asks, as logs show it.
        random: numbers between 0 and 1, for jitter.

    Raises:
        CommandError: the cluster does not tell.
    """
    identity = await _identity(source, component, random) if asks_for_identity(configured) else _NOBODY_ASKED
    found = cluster_id(configured, identity)
    if isinstance(found, Failure):
        raise CommandError(found.failure())
    return found.unwrap()


async def _identity(source: Access, component: str, random: Callable[[], float]) -> Answer:
    """What the cluster says once it can say anything."""
    questions = Questions({Cluster.SOURCE: source.transport})
    recovery = Recovery(source.urgent, random=random)
    log, said, attempts = get_logger(component), "", 0
    while _is_passing(answer := await questions.ask(_IDENTITY)):
        attempts += 1
        if answer.message != said:
            said = answer.message
            log.error("Cluster id cannot be determined, trying again", error=said)
        if await recovery.pause(restart_delay(attempts, random())):
            attempts = 0
    return answer


def _is_passing(answer: Answer) -> TypeGuard[NotAnswered]:
    """Whether a server that cannot be reached, or cannot serve, keeps the answer back for now."""
    if not isinstance(answer, NotAnswered):
        return False
    return answer.code == _TOO_MANY_REQUESTS or answer.code >= _SERVER_ERROR
