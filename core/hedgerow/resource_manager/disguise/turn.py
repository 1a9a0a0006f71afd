"""What is shown of the things that the decisions of one turn are told.

Which Secrets hold manifests shows in the ManagedResources that the turn reads before it asks for them. What a checksum
of their values is shown as is the checksum of what is shown of them, so that a decision by what is shown finds it
right where it was right.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.references import readable_names
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.documents.budget import ReadingBudget
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Action, ApiError, Create, JsonPatch, MergePatch, Update, WriteResult
from hedgerow.machinery.questions import Answer, Found, Question
from hedgerow.machinery.reading import UnreadableError
from hedgerow.resource_manager.disguise.fingerprints import Fingerprints
from hedgerow.resource_manager.disguise.manifests import Manifests
from hedgerow.resource_manager.disguise.values import Compression, FingerprintedValues
from hedgerow.resource_manager.managed_resources.checksums import Checksum
from hedgerow.resource_manager.managed_resources.decoding import decoded_secret
from hedgerow.resource_manager.managed_resources.desired import checked_values

MOST_BYTES: Final = 2 * 1024 * 1024
MOST_NODES: Final = 20_000
"""Limits what is read of the Secrets of a turn. It is read without a pause, so no other key runs meanwhile."""
_MOST_CHECKSUMS: Final = 10_000
_PLAIN_PATHS: Final = ("/status/conditions", "/metadata/finalizers", "/metadata/resourceVersion", "/metadata/uid")
"""What patches write, or test, that anybody may read, whatever they patch."""
_TOKEN: Final = "token"  # noqa: S105 -- the name of a subresource
_SAYS_NO_MORE: Final = frozenset({"NotFound", "AlreadyExists", "Conflict"})
"""Reasons of refusals of which no server says more than which object it is about."""


class SecretsDisguised:
    """The disguises of one run of a process."""

    def __init__(self, fingerprints: Fingerprints, compression: Compression) -> None:
        """Nothing was shown yet.

        Args:
            fingerprints: what stands for values.
            compression: how values are compressed.
        """
        self.compression: Final = compression
        self.fingerprints: Final = fingerprints
        self._checksums: OrderedDict[str, str] = OrderedDict()

    def disguise(self) -> "_Turn":
        """One for a turn that begins."""
        return _Turn(self)

    def learn(self, originals: Iterable[Manifest], shown: Iterable[Manifest]) -> None:
        """Know as what the checksum of what Secrets hold is shown, if that does not take too long."""
        original = _checksum(originals, self.compression)
        disguised = _checksum(shown, self.compression)
        if original is None or disguised is None:
            return
        self._checksums[original] = disguised
        self._checksums.move_to_end(original)
        if len(self._checksums) > _MOST_CHECKSUMS:
            self._checksums.popitem(last=False)

    def shown_checksum(self, checksum: str) -> str:
        """What is shown of a checksum of what Secrets hold."""
        return self._checksums.get(checksum) or self.fingerprints.of_checksum(checksum)


def _checksum(secrets: Iterable[Manifest], compression: Compression) -> str | None:
    try:
        decoded = chain.from_iterable(decoded_secret(each, compression.decompress) for each in secrets)
        return Checksum(checked_values(decoded)).computed_at_once()
    except UnreadableError:
        return None


class _Turn:
    """What one turn is shown."""

    def __init__(self, run: SecretsDisguised) -> None:
        self._run = run
        budget = ReadingBudget(size=MOST_BYTES, nodes=MOST_NODES)
        values = FingerprintedValues(run.fingerprints, run.compression, budget)
        self._manifests = Manifests(values, run.shown_checksum)
        self._holders: dict[ObjectKey, tuple[ObjectKey, ...]] = {}
        """The ManagedResources that were read, and their Secrets."""
        self._originals: dict[ObjectKey, Manifest] = {}
        self._shown: dict[ObjectKey, Manifest] = {}
        """Those of the Secrets that were found."""

    def object(self, resource: Resource, cluster: Cluster, manifest: Manifest) -> Manifest:
        """What is shown of an object of a snapshot."""
        if resource == MANAGED_RESOURCES:
            key = key_of(manifest)
            self._holders[key] = tuple(ObjectKey(key.namespace, name) for name in readable_names(manifest))
        return self._manifest(resource, cluster, manifest)

    def answer(self, question: Question, answer: Answer) -> Answer:
        """What is shown of an answer; what is refused repeats no value."""
        if not isinstance(answer, Found):
            return answer
        found = tuple(self._manifest(question.resource, question.cluster, each) for each in answer.objects)
        if question.resource == SECRETS and question.cluster is Cluster.SOURCE:
            self._learn(answer.objects, found)
        return Found(found)

    def outcome(self, outcome: WriteResult) -> WriteResult:
        """What is shown of an outcome."""
        action, stored = outcome.action, outcome.stored
        if stored is not None:
            is_token = getattr(action, "subresource", "") == _TOKEN
            stored = (
                self._manifests.token_request(stored)
                if is_token
                else self._manifest(action.resource, action.cluster, stored)
            )
        refusal = outcome.error
        if action.resource == SECRETS and refusal is not None:
            refusal = self._refusal(refusal)
        return WriteResult(self._action(action), stored, refusal)

    def _manifest(self, resource: Resource, cluster: Cluster, manifest: Manifest) -> Manifest:
        manifests = self._manifests
        if resource != SECRETS:
            shown: Manifest = manifests.shown(manifest)
            return shown
        holds = cluster is Cluster.SOURCE and any(key_of(manifest) in keys for keys in self._holders.values())
        return manifests.secret(manifest, manifests.shown if holds else None)

    def _action(self, action: Action) -> Action:
        match action:
            case Create() | Update():
                return replace(action, manifest=self._manifest(action.resource, action.cluster, action.manifest))
            case MergePatch():
                return replace(action, patch=self._patch(action))
            case JsonPatch():
                return replace(action, operations=[self._operation(each) for each in action.operations])
            case _:
                return action

    def _patch(self, action: MergePatch) -> Manifest:
        manifests = self._manifests
        if action.resource == SECRETS:
            return manifests.secret(action.patch)
        shown: Manifest = manifests.shown(action.patch)
        return shown

    def _operation(self, operation: Mapping[str, Any]) -> Mapping[str, Any]:
        """What is shown of an operation: what it is about does not show in it, so hardly anything."""
        path = operation.get("path")
        if "value" not in operation or (isinstance(path, str) and path.startswith(_PLAIN_PATHS)):
            return operation
        return {**operation, "value": self._run.fingerprints.of_leaves(operation["value"])}

    def _refusal(self, refusal: ApiError) -> ApiError:
        """What is shown of why a Secret was not written: a server may repeat what it was sent."""
        if refusal.reason in _SAYS_NO_MORE or not refusal.code:
            return refusal
        fingerprints = self._run.fingerprints
        causes = tuple(each._replace(message=fingerprints.of_text(each.message)) for each in refusal.causes)
        return replace(refusal, message=fingerprints.of_text(refusal.message), causes=causes)

    def _learn(self, originals: Iterable[Manifest], shown: Iterable[Manifest]) -> None:
        for original, disguised in zip(originals, shown, strict=True):
            self._originals[key_of(original)] = original
            self._shown[key_of(original)] = disguised
        for keys in self._holders.values():
            if keys and all(key in self._originals for key in keys):
                self._run.learn([self._originals[key] for key in keys], [self._shown[key] for key in keys])
