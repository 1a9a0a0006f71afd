"""Whether the namespaces exist that a process is told to look after: of others nothing is ever listed, and no error."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import key_of
from hedgerow.machinery.questions import Found, ListQuestion
from hedgerow.machinery.selectors import field_query
from hedgerow_adapters.kubernetes.live_reads import Questions
from hedgerow_adapters.runtime.clusters import Access
from hedgerow_adapters.telemetry.logs import get_logger
from hedgerow_adapters.telemetry.messages import Message


def with_readable_namespaces(
    accesses: Mapping[str, Access], controllers: Iterable[Controller[Any]]
) -> Iterator[tuple[str, Access]]:
    """The connections by whose permissions the process may list Namespaces, as its controllers read them."""
    read = {watch.cluster.value for each in controllers for watch in each.watches if watch.resource == NAMESPACES}
    for name, access in accesses.items():
        if name in read or (read and len(accesses) == 1):
            yield name, access


async def warn_of_missing_namespaces(access: Access, connection: str, component: str) -> None:
    """Say which of the visible namespaces do not exist; they may still come."""
    questions = Questions({Cluster.SOURCE: access.urgent})
    for name in access.namespaces:
        selector = field_query({"metadata.name": name})
        answer = await questions.ask(
            ListQuestion(NAMESPACES, Cluster.SOURCE, field_selector=selector, metadata_only=True)
        )
        if isinstance(answer, Found) and not any(key_of(each).name == name for each in answer.objects):
            get_logger(component).tell(Message.NAMESPACE_MISSING, connection=connection, namespace=name)
