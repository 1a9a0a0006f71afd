"""Redaction of the reads and replies in journals.

The ManagedResources that a turn has read name the Secrets that hold manifests. A checksum of their values is replaced
by that of the redacted values, so that it is right in a shadow run if it was right.

A chart is replaced by its fingerprint, and so are the values that it gets. What it renders to is shown as manifests are
that ManagedResources refer to.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.references import readable_names
from hedgerow.api.registrations import CONTROLLER_DEPLOYMENTS, CONTROLLER_REGISTRATIONS
from hedgerow.api.tokens import TOKEN
from hedgerow.machinery.charts import RenderChart, RenderedChart, RenderError
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.documents.budget import ReadingBudget
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import ACTIONS, ApiError, InOrder, Plan
from hedgerow.machinery.questions import Found, ListQuestion, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.recording.journal import Part, WriteReply
from hedgerow.machinery.steps import AtOnce, Step
from hedgerow.resource_manager.managed_resources.decoding import Checksum, decoded_secret
from hedgerow.resource_manager.managed_resources.desired import checked_values
from hedgerow.resource_manager.secret_redaction.fingerprints import Compression, FingerprintRedactor, Fingerprints

MOST_BYTES: Final = 2 * 1024 * 1024
MOST_NODES: Final = 20_000
"""The most that is read of the Secrets of a turn."""
_MOST_CHECKSUMS: Final = 10_000
_SAYS_NO_MORE: Final = frozenset({"NotFound", "AlreadyExists", "Conflict"})
"""Reasons of errors whose message only names the object."""


class SecretRedaction:
    """The redaction of the journals of one run of a process."""

    def __init__(self, fingerprints: Fingerprints, compression: Compression) -> None:
        """The redaction with the fingerprints of the run; no checksum is known yet."""
        self.compression: Final = compression
        self.fingerprints: Final = fingerprints
        self._checksums: dict[str, str] = {}

    def redacted(self, parts: Sequence[Part]) -> Sequence[Part]:
        """The parts of a journal, as a record may show them; equal ones if there is nothing to hide.

        Raises:
            TooMuchToRedactError: its Secrets hold too much.
        """
        turn = _Turn(self, parts)
        # Replies first: they have the Secrets that checksums are of.
        replies = [turn.reply(part.wants, part.reply) for part in parts]
        return tuple(
            replace(
                part,
                reads={look: turn.read(look.resource, look.cluster, answer) for look, answer in part.reads.items()},
                reply=reply,
            )
            for part, reply in zip(parts, replies, strict=True)
        )

    def learn(self, originals: Iterable[Manifest], shown: Iterable[Manifest]) -> None:
        """Remember the checksum of redacted Secrets by that of the originals."""
        original, redacted = _checksum(originals, self.compression), _checksum(shown, self.compression)
        if original is None or redacted is None:
            return
        self._checksums.pop(original, None)
        self._checksums[original] = redacted
        if len(self._checksums) > _MOST_CHECKSUMS:
            del self._checksums[next(iter(self._checksums))]

    def shown_checksum(self, checksum: str) -> str:
        """The replacement of a checksum of Secrets."""
        return self._checksums.get(checksum) or self.fingerprints.of_checksum(checksum)


def _checksum(secrets: Iterable[Manifest], compression: Compression) -> str | None:
    try:
        decoded = chain.from_iterable(decoded_secret(each, compression.decompress) for each in secrets)
        return Checksum(checked_values(decoded)).computed_at_once()
    except UnreadableError:
        return None


class _Turn:
    """The redaction of one turn."""

    def __init__(self, run: SecretRedaction, parts: Iterable[Part]) -> None:
        self._run = run
        budget = ReadingBudget(size=MOST_BYTES, nodes=MOST_NODES)
        self._redactor = FingerprintRedactor(run.fingerprints, run.compression, budget, run.shown_checksum)
        self._holders = {tuple(_secrets_of(manifest)) for part in parts for manifest in _managed_resources(part)}
        """The Secrets of each ManagedResource that was read, in its order."""
        self._with_manifests = frozenset(chain.from_iterable(self._holders))
        self._found: dict[ObjectKey, tuple[Manifest, Manifest]] = {}
        """The Secrets that were found in the source cluster, each as it is and redacted."""

    def read(self, resource: Resource, cluster: Cluster, answer: Any) -> Any:
        """The redacted answer to a lookup."""
        if isinstance(answer, tuple):
            return tuple(self._manifest(resource, cluster, manifest) for manifest in answer)
        return self._manifest(resource, cluster, answer) if isinstance(answer, Mapping) else answer

    def reply(self, step: Step[Any] | Plan | None, reply: Any) -> Any:
        """The redacted reply to a step."""
        match step:
            case AtOnce(steps) | InOrder(steps) if reply is not None:
                return tuple(self.reply(one, its_reply) for one, its_reply in zip(steps, reply, strict=False))
            case ObjectQuestion() | ListQuestion() if isinstance(reply, Found):
                redacted = tuple(self._manifest(step.resource, step.cluster, live) for live in reply.objects)
                if step.resource == SECRETS and step.cluster is Cluster.SOURCE:
                    self._learn(reply.objects, redacted)
                return Found(redacted)
            case _ if isinstance(step, ACTIONS) and isinstance(reply, WriteReply):
                stored, error = reply.stored, reply.error
                if stored is not None and getattr(step, "subresource", "") == TOKEN:
                    stored = self._redactor.token_request(stored)
                elif stored is not None:
                    stored = self._manifest(step.resource, step.cluster, stored)
                return WriteReply(stored, self._error(error) if error and step.resource == SECRETS else error)
            case RenderChart() if reply is not None:
                return self._rendered(reply)
            case _:
                return reply

    def _rendered(self, reply: RenderedChart) -> RenderedChart:
        """What a chart renders to, redacted: an error may quote values."""
        if isinstance(reply, RenderError):
            return replace(reply, message=self._run.fingerprints.of_text(reply.message))
        return tuple(replace(file, objects=tuple(map(self._redactor.redacted, file.objects))) for file in reply)

    def _manifest(self, resource: Resource, cluster: Cluster, manifest: Manifest) -> Manifest:
        if resource == SECRETS:
            holds_manifests = cluster is Cluster.SOURCE and key_of(manifest) in self._with_manifests
            return self._redactor.secret(manifest, holds_manifests=holds_manifests)
        if resource in {CONTROLLER_REGISTRATIONS, CONTROLLER_DEPLOYMENTS}:
            manifest = self._redactor.with_annotations(self._without_values(manifest))
        redacted: Manifest = self._redactor.redacted(manifest)
        return redacted

    def _without_values(self, value: Any) -> Any:
        """A ControllerRegistration or ControllerDeployment without what it configures its deployment with."""
        if not isinstance(value, Mapping):
            return value
        inner = {name: self._without_values(value[name]) for name in ("spec", "deployment") if name in value}
        config = value.get("providerConfig")
        if config is not None:
            shown = self._run.fingerprints.of_leaves(config)
            if isinstance(config, Mapping) and "chart" in config:
                shown |= self._redactor.data({"chart": config["chart"]})
            inner["providerConfig"] = shown
        return {**value, **inner} if inner else value

    def _error(self, error: ApiError) -> ApiError:
        """The error of a write to a Secret, redacted: a server may repeat what it was sent."""
        if error.reason in _SAYS_NO_MORE or not error.code:
            return error
        hidden = self._run.fingerprints.of_text
        causes = tuple(cause._replace(message=hidden(cause.message)) for cause in error.causes)
        return replace(error, message=hidden(error.message), causes=causes)

    def _learn(self, originals: Iterable[Manifest], redacted: Iterable[Manifest]) -> None:
        for original, shown in zip(originals, redacted, strict=True):
            self._found[key_of(original)] = original, shown
        for keys in self._holders:
            if keys and all(key in self._found for key in keys):
                self._run.learn(*zip(*(self._found[key] for key in keys), strict=True))


def _managed_resources(part: Part) -> Iterable[Manifest]:
    """The ManagedResources that were read."""
    for lookup, answer in part.reads.items():
        if lookup.resource == MANAGED_RESOURCES:
            yield from answer if isinstance(answer, tuple) else [answer] if isinstance(answer, Mapping) else []


def _secrets_of(managed_resource: Manifest) -> Iterable[ObjectKey]:
    namespace = key_of(managed_resource).namespace
    return (ObjectKey(namespace, name) for name in readable_names(managed_resource))
