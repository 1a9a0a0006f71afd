"""How a webhook is reached: by a function that the maker of the cluster gives it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from hedgerow_adapters.registrations import Entry


@dataclass(frozen=True, slots=True)
class WebhookCall:
    """One question to one webhook."""

    entry: Entry
    """The webhook as it is registered: where it is reached, and for how long it is waited for."""
    review: Mapping[str, Any]
    """The question, as an AdmissionReview document; not to be changed."""


class CallFailedError(Exception):
    """A webhook gave no answer; the text says why."""


CallWebhook: TypeAlias = Callable[[WebhookCall], bytes | Mapping[str, Any]]
"""Answers with an AdmissionReview document, as text or parsed; raises CallFailedError if none comes."""


def nobody(_call: WebhookCall) -> NoReturn:
    """The caller of a cluster that was given none: no webhook can be reached."""
    raise CallFailedError("connect: connection refused")
