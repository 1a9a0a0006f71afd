"""Which clusters a process works with: the id of the source cluster, and whether the target is the same cluster.

A cluster is asked only where the configuration does not name an id: again and again as long as it cannot answer for the
time being. What it answers then is final; if it is no id the process has to end.

Source: managed-resources §4.4.
"""

from collections.abc import Callable
from typing import Final, TypeGuard

from returns.result import Failure

from hedgerow.api.kubernetes import CONFIG_MAPS, NAMESPACES
from hedgerow.api.references import CLUSTER_IDENTITY, asks_for_identity, cluster_id
from hedgerow.machinery.clusters import KUBE_SYSTEM, Cluster
from hedgerow.machinery.objects import uid_of
from hedgerow.machinery.questions import Answer, Found, NotAnswered, ObjectQuestion
from hedgerow_adapters.informer.recovery import Recovery, restart_delay
from hedgerow_adapters.kubernetes.live_reads import Questions
from hedgerow_adapters.runtime.clusters import Access
from hedgerow_adapters.telemetry.logs import get_logger
from hedgerow_adapters.telemetry.messages import Message
from hedgerow_entrypoints.errors import CommandError

_IDENTITY: Final = ObjectQuestion(CONFIG_MAPS, CLUSTER_IDENTITY, Cluster.SOURCE)
_KUBE_SYSTEM: Final = ObjectQuestion(NAMESPACES, KUBE_SYSTEM, Cluster.SOURCE)
_NOBODY_ASKED: Final = NotAnswered(500, "", "nobody was asked")
_TOO_MANY_REQUESTS: Final = 429
_SERVER_ERROR: Final = 500


async def determine_cluster_id(configured: str, source: Access, component: str, random: Callable[[], float]) -> str:
    """The effective id of the source cluster; empty where it has none. Namespaces out of sight do not hide it.

    Raises CommandError if the cluster does not tell.
    """
    identity = await _answer(_IDENTITY, source, component, random) if asks_for_identity(configured) else _NOBODY_ASKED
    found = cluster_id(configured, identity)
    if isinstance(found, Failure):
        raise CommandError(found.failure(), field="controllers.clusterID")
    return found.unwrap()


async def are_one_cluster(source: Access, target: Access, component: str, random: Callable[[], float]) -> bool:
    """True if both connections lead to one cluster, by the uid of its namespace `kube-system`."""
    answers = [await _answer(_KUBE_SYSTEM, access, component, random) for access in (source, target)]
    uids = [uid_of(answer.objects[0]) if isinstance(answer, Found) else None for answer in answers]
    return uids[0] == uids[1] and bool(uids[0])


async def _answer(question: ObjectQuestion, access: Access, component: str, random: Callable[[], float]) -> Answer:
    """What the cluster says once it can say anything."""
    questions = Questions({question.cluster: access.transport})
    recovery = Recovery(access.urgent, random=random)
    log, said, attempts = get_logger(component), "", 0
    while _is_passing(answer := await questions.ask(question)):
        attempts += 1
        if answer.message != said:
            said = answer.message
            log.tell(Message.NO_CLUSTER_ID, error=said)
        if await recovery.pause(restart_delay(attempts, random())):
            attempts = 0
    return answer


def _is_passing(answer: Answer) -> TypeGuard[NotAnswered]:
    """Whether a server that cannot be reached, or cannot serve, keeps the answer back for now."""
    return isinstance(answer, NotAnswered) and (answer.code == _TOO_MANY_REQUESTS or answer.code >= _SERVER_ERROR)
