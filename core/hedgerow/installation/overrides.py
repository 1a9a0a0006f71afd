"""How values change the registrations of webhooks: how long API servers wait, what failures mean, who is asked.

Selectors are narrowed, never widened: a webhook must not be asked about what the process itself needs to run.

Source: webhooks-and-tokens §4.1.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field
from returns.result import Failure

from hedgerow.admission.registration import RegisteredWebhook, terms
from hedgerow.installation.parts import Part
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.selectors import LabelSelector, Operator, Requirement, parse_label_selector

EVERY: Final = "*"
"""Stands for the names of all webhooks."""
LONGEST_TIMEOUT: Final = 30
"""Seconds that an API server waits at most."""


class Override(Part):
    """What replaces the terms of a webhook."""

    timeout_seconds: Annotated[int, Field(ge=0, le=LONGEST_TIMEOUT)] = 0
    """How long API servers wait for an answer; 0: as long as without this."""
    failure_policy: Literal["", "Fail", "Ignore"] = ""
    """What a failure means; empty: the same as without this."""
    namespace_selector: dict[str, Any] = Field(default_factory=dict)
    """A further selector, which namespaces have to meet as well."""
    object_selector: dict[str, Any] = Field(default_factory=dict)
    """A further selector, which objects have to meet as well."""


Overrides: TypeAlias = Mapping[str, Override]


def overridden(webhook: RegisteredWebhook, overrides: Overrides) -> RegisteredWebhook:
    """A webhook on other terms: first those for every webhook, then its own."""
    for override in (overrides[name] for name in (EVERY, webhook.name) if name in overrides):
        policy, objects = override.failure_policy, webhook.object_selector
        webhook = replace(
            webhook,
            timeout_seconds=override.timeout_seconds or webhook.timeout_seconds,
            ignores_failures=policy == "Ignore" if policy else webhook.ignores_failures,
            namespace_selector=_narrowed(webhook.namespace_selector, override.namespace_selector),
            object_selector=_narrowed(objects or LabelSelector(), further)
            if (further := override.object_selector)
            else objects,
        )
    return webhook


def _narrowed(selector: LabelSelector, further: Mapping[str, Any]) -> LabelSelector:
    """A selector of what meets both. A label that both name may have to have two values, so that nothing is met."""
    added = parse_label_selector(further).value_or(LabelSelector())
    labels = (Requirement(key, Operator.IN, (value,)) for key, value in added.match_labels)
    return replace(selector, match_expressions=(*selector.match_expressions, *labels, *added.match_expressions))


def on_terms_of(registration: Manifest, webhooks: Iterable[RegisteredWebhook]) -> Manifest:
    """A registration object whose entries have the terms of these webhooks."""
    by_name = {webhook.name: webhook for webhook in webhooks}
    entries = [{**entry, **terms(by_name[entry["name"]])} for entry in registration["webhooks"]]
    return {**registration, "webhooks": entries}


def strictness_problems(overrides: Overrides, usual: Iterable[RegisteredWebhook]) -> Iterator[str]:
    """Which webhooks may not fail: those that usually ignore it are asked about pods that the process needs to run."""
    for webhook in usual:
        if webhook.ignores_failures and not overridden(webhook, overrides).ignores_failures:
            yield (
                f'webhooks.overrides: failurePolicy of the webhook "{webhook.name}" must be Ignore, '
                "as it is asked about pods without which the process does not run"
            )


def override_problems(overrides: Overrides, registered: Iterable[str]) -> Iterator[str]:
    """Why overrides cannot be applied to the webhooks of these names."""
    names = sorted(registered)
    for name, override in overrides.items():
        if name != EVERY and name not in names:
            known = f"only {', '.join(names)}" if names else "as no webhook is enabled"
            yield f'webhooks.overrides: no webhook "{name}" is registered, {known}'
        for field in ("namespaceSelector", "objectSelector"):
            selector = override.model_dump(by_alias=True)[field]
            parsed = parse_label_selector(selector, f"webhooks.overrides[{name}].{field}")
            if isinstance(parsed, Failure):
                yield from map(str, parsed.failure())
