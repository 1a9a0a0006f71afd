"""Webhooks that answer in the very process of the cluster: no sockets, no documents as text.

    cluster = InMemoryCluster()
    cluster.answer_webhooks(LocalWebhooks(cluster, webhooks(config)))

A webhook sees the cluster as it is at the moment of the call, through its own reads and indexes.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from returns.pipeline import is_successful

from hedgerow.admission import Decision, Webhook
from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.review import answer, parse_review
from hedgerow.admission.webhook import read_in
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Resource
from hedgerow.machinery.questions import Answer, Found, ListQuestion, NotAnswered, Question
from hedgerow.machinery.steps import Step
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot
from hedgerow_adapters.memory.admission import CallFailedError, WebhookCall
from hedgerow_adapters.memory.cluster import InMemoryCluster
from hedgerow_adapters.protocol.documents import no_match


class LocalWebhooks:
    """Answers the calls of an in-memory cluster: each goes to the webhook of its path."""

    def __init__(
        self, cluster: InMemoryCluster, webhooks: Iterable[Webhook], *, source: InMemoryCluster | None = None
    ) -> None:
        """Webhooks that look after a cluster.

        Args:
            cluster: what they see as the target.
            webhooks: who answers; each has a path of its own.
            source: what they see as the source cluster; none: the same.
        """
        self._clusters = {Cluster.TARGET: cluster, Cluster.SOURCE: source or cluster}
        self._webhooks = {webhook.path: webhook for webhook in webhooks}

    def __call__(self, call: WebhookCall) -> Mapping[str, Any]:
        """The answer to a call.

        Raises:
            CallFailedError: nobody answers at that path.
        """
        webhook = self._webhooks.get(call.entry.client.path)
        if webhook is None:
            raise CallFailedError("the server could not find the requested resource")
        parsed = parse_review(call.review)
        if not is_successful(parsed):
            bad = parsed.failure()
            return answer(bad.api_version, bad.uid, bad.decision, _encoded)
        review = parsed.unwrap()
        decision = self.decide(webhook, review.request)
        return answer(review.api_version, review.request.uid, decision, _encoded)

    def decide(self, webhook: Webhook, request: AdmissionRequest) -> Decision:
        """What a webhook decides about a request; it reads from the clusters.

        Raises:
            EndlessDecisionError: the webhook reads without end.
        """
        with webhook.execution(request, self._snapshot(webhook)) as execution:
            step = execution.begin()
            while isinstance(step, Step):
                step = execution.go_on(self._found(read_in(step)))
        return step

    def _snapshot(self, webhook: Webhook) -> StoreSnapshot:
        stores: dict[Cluster, dict[Resource, ObjectStore]] = {cluster: {} for cluster in Cluster}
        for read in webhook.reads:
            store = stores[read.cluster][read.resource] = ObjectStore(
                index for index in webhook.indexes if (index.resource, index.cluster) == (read.resource, read.cluster)
            )
            cluster = self._clusters[read.cluster]
            for manifest in cluster.objects(read.resource) if cluster.serves(read.resource) else ():
                store.put(read.transform(manifest))
        return StoreSnapshot(stores[Cluster.TARGET], stores[Cluster.SOURCE])

    def _found(self, question: Question) -> Answer:
        cluster = self._clusters[question.cluster]
        if not cluster.serves(question.resource):
            return no_match(question.resource.object_kind)
        if isinstance(question, ListQuestion):
            listed = cluster.objects(question.resource, question.namespace)
            return Found(tuple(manifest for manifest in listed if question.asks_for(manifest)))
        manifest = cluster.get(question.resource, question.key)
        if manifest is None:
            return NotAnswered(404, "NotFound", f'{question.resource} "{question.key.name}" not found')
        return Found((manifest,))


def _encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
