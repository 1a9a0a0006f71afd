"""Redaction of journals: what a record shows of the things that a decision was told.

Which Secrets hold manifests shows in the ManagedResources that the turn has read. A checksum of their values is
replaced by the checksum of the redacted values: a decision by redacted values finds it right where it was right.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.references import readable_names
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.documents.budget import ReadingBudget
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import ACTIONS, ApiError, InOrder, Plan
from hedgerow.machinery.questions import Found, ListQuestion, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.recording.journal import Part, WriteReply
from hedgerow.machinery.steps import AtOnce, Step
from hedgerow.resource_manager.managed_resources.checksums import Checksum
from hedgerow.resource_manager.managed_resources.decoding import decoded_secret
from hedgerow.resource_manager.managed_resources.desired import checked_values
from hedgerow.resource_manager.secret_redaction.fingerprints import Fingerprints
from hedgerow.resource_manager.secret_redaction.manifests import Manifests
from hedgerow.resource_manager.secret_redaction.values import Compression, FingerprintedValues

MOST_BYTES: Final = 2 * 1024 * 1024
MOST_NODES: Final = 20_000
"""Limits what is read of the Secrets of a turn."""
_MOST_CHECKSUMS: Final = 10_000
_TOKEN: Final = "token"  # noqa: S105 -- the name of a subresource
_SAYS_NO_MORE: Final = frozenset({"NotFound", "AlreadyExists", "Conflict"})
"""Reasons of errors of which no server says more than which object it is about."""


class SecretRedaction:
    """The redaction of the journals of one run of a process."""

    def __init__(self, fingerprints: Fingerprints, compression: Compression) -> None:
        """No checksum is known yet.

        Args:
            fingerprints: what stands for values.
            compression: how values are compressed.
        """
        self.compression: Final = compression
        self.fingerprints: Final = fingerprints
        self._checksums: OrderedDict[str, str] = OrderedDict()

    def redacted(self, parts: Sequence[Part]) -> Sequence[Part]:
        """The parts of a journal, as a record may show them; equal ones if there is nothing to hide.

        Raises:
            TooMuchToRedactError: its Secrets hold too much.
        """
        turn = _Turn(self, parts)
        # Answers first: they tell what the checksums are of.
        replies = [turn.reply(part.wants, part.reply) for part in parts]
        return tuple(
            replace(
                part,
                reads={lookup: turn.read(lookup.resource, lookup.cluster, each) for lookup, each in part.reads.items()},
                reply=reply,
            )
            for part, reply in zip(parts, replies, strict=True)
        )

    def learn(self, originals: Iterable[Manifest], shown: Iterable[Manifest]) -> None:
        """Know what the checksum of Secrets is replaced by, if that does not take too long."""
        original = _checksum(originals, self.compression)
        redacted = _checksum(shown, self.compression)
        if original is None or redacted is None:
            return
        self._checksums[original] = redacted
        self._checksums.move_to_end(original)
        if len(self._checksums) > _MOST_CHECKSUMS:
            self._checksums.popitem(last=False)

    def shown_checksum(self, checksum: str) -> str:
        """What is shown of a checksum of Secrets."""
        return self._checksums.get(checksum) or self.fingerprints.of_checksum(checksum)


def _checksum(secrets: Iterable[Manifest], compression: Compression) -> str | None:
    try:
        decoded = chain.from_iterable(decoded_secret(each, compression.decompress) for each in secrets)
        return Checksum(checked_values(decoded)).computed_at_once()
    except UnreadableError:
        return None


class _Turn:
    """One turn as it is shown."""

    def __init__(self, run: SecretRedaction, parts: Iterable[Part]) -> None:
        self._run = run
        budget = ReadingBudget(size=MOST_BYTES, nodes=MOST_NODES)
        self._manifests = Manifests(FingerprintedValues(run.fingerprints, run.compression, budget), run.shown_checksum)
        self._holders = {tuple(_secrets_of(each)) for part in parts for each in _managed_resources(part)}
        """The Secrets of each ManagedResource that was read, in its order."""
        self._holding = frozenset(chain.from_iterable(self._holders))
        self._originals: dict[ObjectKey, Manifest] = {}
        self._shown: dict[ObjectKey, Manifest] = {}
        """The Secrets of the source cluster that were found."""

    def read(self, resource: Resource, cluster: Cluster, answer: Any) -> Any:
        """What is shown of the answer to a lookup."""
        if isinstance(answer, tuple):
            return tuple(self._manifest(resource, cluster, each) for each in answer)
        return self._manifest(resource, cluster, answer) if isinstance(answer, Mapping) else answer

    def reply(self, step: Step[Any] | Plan | None, reply: Any) -> Any:
        """What is shown of the noted reply to a step."""
        match step:
            case AtOnce(steps) | InOrder(steps) if reply is not None:
                return tuple(self.reply(each, one) for each, one in zip(steps, reply, strict=False))
            case ObjectQuestion() | ListQuestion() if isinstance(reply, Found):
                return self._found(step.resource, step.cluster, reply)
            case _ if isinstance(step, ACTIONS) and isinstance(reply, WriteReply):
                stored, error = reply.stored, reply.error
                if stored is not None:
                    is_token = getattr(step, "subresource", "") == _TOKEN
                    stored = (
                        self._manifests.token_request(stored)
                        if is_token
                        else self._manifest(step.resource, step.cluster, stored)
                    )
                if error is not None and step.resource == SECRETS:
                    error = self._error(error)
                return WriteReply(stored, error)
            case _:
                return reply

    def _found(self, resource: Resource, cluster: Cluster, answer: Found) -> Found:
        found = tuple(self._manifest(resource, cluster, each) for each in answer.objects)
        if resource == SECRETS and cluster is Cluster.SOURCE:
            self._learn(answer.objects, found)
        return Found(found)

    def _manifest(self, resource: Resource, cluster: Cluster, manifest: Manifest) -> Manifest:
        manifests = self._manifests
        if resource != SECRETS:
            shown: Manifest = manifests.shown(manifest)
            return shown
        holds_manifests = cluster is Cluster.SOURCE and key_of(manifest) in self._holding
        return manifests.secret(manifest, manifests.shown if holds_manifests else None)

    def _error(self, error: ApiError) -> ApiError:
        """What is shown of why a Secret was not written: a server may repeat what it was sent."""
        if error.reason in _SAYS_NO_MORE or not error.code:
            return error
        fingerprints = self._run.fingerprints
        causes = tuple(each._replace(message=fingerprints.of_text(each.message)) for each in error.causes)
        return replace(error, message=fingerprints.of_text(error.message), causes=causes)

    def _learn(self, originals: Iterable[Manifest], shown: Iterable[Manifest]) -> None:
        for original, redacted in zip(originals, shown, strict=True):
            self._originals[key_of(original)] = original
            self._shown[key_of(original)] = redacted
        for keys in self._holders:
            if keys and all(key in self._originals for key in keys):
                self._run.learn([self._originals[key] for key in keys], [self._shown[key] for key in keys])


def _managed_resources(part: Part) -> Iterable[Manifest]:
    """The ManagedResources that were read."""
    for lookup, answer in part.reads.items():
        if lookup.resource == MANAGED_RESOURCES:
            yield from answer if isinstance(answer, tuple) else [answer] if isinstance(answer, Mapping) else []


def _secrets_of(managed_resource: Manifest) -> Iterable[ObjectKey]:
    namespace = key_of(managed_resource).namespace
    return (ObjectKey(namespace, name) for name in readable_names(managed_resource))
