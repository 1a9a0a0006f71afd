"""Which labels a Secret gets that holds a token of a ServiceAccount.

The purpose is set on each of them, as it is what lets the webhook undo an invalidation later. Whether the token is to
be worth anything is up to the ServiceAccount; as long as a pod mounts the Secret its token stays as it is.

Source: webhooks-and-tokens §11.1; improvements I-16, I-17.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hedgerow.api.tokens import CONSIDER, PURPOSE, SKIP, TOKEN_INVALIDATOR
from hedgerow.machinery.objects import Manifest, key_of, labels_of
from hedgerow.machinery.reading import boolean_at, objects_at, text_at


@dataclass(frozen=True, slots=True)
class Labelling:
    """What is to be done with a Secret."""

    labels: Mapping[str, str | None]
    """Those to be set, and those to be taken away (none), as a merge patch has it; only what changes anything."""
    has_to_wait: bool = False
    """Whether more is to be done once no pod mounts the Secret."""


def labelling(secret: Manifest, account: Manifest, pods: Iterable[Manifest]) -> Labelling:
    """The labels that a Secret lacks, and those that it has to lose.

    Args:
        secret: its metadata is enough.
        account: the ServiceAccount whose token it holds.
        pods: those of its namespace; they count only where they are needed, see `needs_pods`.

    Raises:
        UnreadableError: something in an object has another shape than an API server stores.
    """
    labels = labels_of(secret)
    purpose = {} if PURPOSE in labels else {PURPOSE: TOKEN_INVALIDATOR}
    if not mounts_no_token(account):
        return Labelling(purpose | ({CONSIDER: None} if CONSIDER in labels else {}))
    if CONSIDER in labels:
        return Labelling(purpose)
    if any(mounts(pod, key_of(secret).name) for pod in pods):
        return Labelling(purpose, has_to_wait=True)
    return Labelling({**purpose, CONSIDER: "true"})


def needs_pods(secret: Manifest, account: Manifest) -> bool:
    """Whether it depends on pods what is to be done with a Secret."""
    return mounts_no_token(account) and CONSIDER not in labels_of(secret)


def mounts_no_token(account: Manifest) -> bool:
    """Whether a ServiceAccount has switched off that its token is mounted, and does not want to be left alone."""
    return boolean_at(account, "automountServiceAccountToken") is False and SKIP not in labels_of(account)


def mounts(pod: Manifest, secret_name: str) -> bool:
    """True if a volume of the pod, in any phase, shows the Secret, alone or as a source of a projected volume.

    The reference ignores projected volumes: their pods lose a token that they still use.
    """
    return any(secret_name in _secrets_of(volume) for volume in objects_at(pod, "spec", "volumes"))


def _secrets_of(volume: Manifest) -> Iterator[str | None]:
    """The names of the Secrets that a volume shows."""
    yield text_at(volume, "secret", "secretName")
    for source in objects_at(volume, "projected", "sources"):
        yield text_at(source, "secret", "name")
