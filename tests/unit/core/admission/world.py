"""The world as a webhook sees it: what it reads of whole objects, and what it is answered when it asks."""

from collections.abc import Callable, Sequence

from hedgerow.admission import AdmissionRequest, Decision, Denied, Mutated, Webhook
from hedgerow.admission.webhook import read_in
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.questions import Answer, Found, ListQuestion, NotAnswered, Question
from hedgerow.machinery.selectors import parse_selector_query
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Step
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot


def world(webhook: Webhook, *manifests: Manifest) -> StoreSnapshot:
    """The snapshot over whole objects, as the webhook's reads keep them; objects that it does not read are left out."""
    stores: dict[Cluster, dict[Resource, ObjectStore]] = {cluster: {} for cluster in Cluster}
    for read in webhook.reads:
        place = (read.resource, read.cluster)
        store = ObjectStore(index for index in webhook.indexes if (index.resource, index.cluster) == place)
        for manifest in objects_of(read.resource, manifests):
            store.put(read.transform(manifest))
        stores[read.cluster][read.resource] = store
    return StoreSnapshot(stores[Cluster.TARGET], stores[Cluster.SOURCE])


def decided(webhook: Webhook, request: AdmissionRequest, *manifests: Manifest) -> Decision:
    """What the webhook decides if these objects are all there is."""
    return reviewed(webhook, request, world(webhook, *manifests), lambda question: answered(question, manifests))[0]


def told(webhook: Webhook, request: AdmissionRequest, answer: Answer) -> tuple[Decision, list[Question]]:
    """What the webhook decides if its caches are empty and all its live reads have this answer; and the reads."""
    return reviewed(webhook, request, world(webhook), lambda _question: answer)


def reviewed(
    webhook: Webhook, request: AdmissionRequest, snapshot: Snapshot, answer: Callable[[Question], Answer]
) -> tuple[Decision, list[Question]]:
    """What the webhook decides, and its live reads."""
    questions: list[Question] = []
    with webhook.execution(request, snapshot) as execution:
        step = execution.begin()
        while isinstance(step, Step):
            questions.append(read_in(step))
            step = execution.go_on(answer(questions[-1]))
    return step, questions


def changed_object(decision: Decision) -> Manifest | None:
    """The object as it becomes; none if it stays as it is."""
    assert not isinstance(decision, Denied)
    return decision.object if isinstance(decision, Mutated) else None


def answered(question: Question, manifests: Sequence[Manifest]) -> Answer:
    """What an API server that stores these objects answers."""
    candidates = objects_of(question.resource, manifests)
    if isinstance(question, ListQuestion):
        selector = parse_selector_query(question.label_selector).unwrap()
        namespaces = {question.namespace} if question.namespace else {key_of(each).namespace for each in candidates}
        listed = [each for each in candidates if key_of(each).namespace in namespaces]
        return Found(tuple(each for each in listed if selector.matches(labels_of(each))))
    found = [each for each in candidates if key_of(each) == question.key]
    return Found((found[0],)) if found else not_found(question.resource, question.key)


def not_found(resource: Resource, key: ObjectKey) -> NotAnswered:
    """How an API server says that an object does not exist."""
    return NotAnswered(404, "NotFound", f'{resource} "{key.name}" not found')


def objects_of(resource: Resource, manifests: Sequence[Manifest]) -> list[Manifest]:
    """Those objects that are of a resource."""
    wanted = (resource.api_version, resource.kind)
    return [each for each in manifests if (each.get("apiVersion"), each.get("kind")) == wanted]
