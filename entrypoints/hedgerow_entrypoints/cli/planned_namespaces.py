"""Whether the Namespaces exist in which a plan for a live cluster creates objects: without one, the server refuses."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.plan import Create
from hedgerow.machinery.questions import Found, ListQuestion
from hedgerow.machinery.selectors import field_query
from hedgerow_entrypoints.cli.rendering import Planned
from hedgerow_entrypoints.components.registry import Ask


def missing_namespaces(planned: Iterable[Planned], ask: Ask) -> Iterator[Failure]:
    """The failure of each object whose Namespace neither exists nor is planned; one that nobody may read counts."""
    creations = [each.action for each in planned if isinstance(each.action, Create)]
    made = {(each.cluster, each.key.name) for each in creations if each.resource == NAMESPACES}
    wanted: dict[tuple[Cluster, str], list[Create]] = defaultdict(list)
    for each in creations:
        if each.key.namespace and (place := (each.cluster, each.key.namespace)) not in made:
            wanted[place].append(each)
    for (cluster, name), actions in wanted.items():
        selector = field_query({"metadata.name": name})
        answer = ask(ListQuestion(NAMESPACES, cluster, field_selector=selector, metadata_only=True))
        if isinstance(answer, Found) and not answer.objects:
            problem = Problem("metadata.namespace", f'Namespace "{name}" does not exist')
            yield from (Failure(each.resource, each.key, problem) for each in actions)
