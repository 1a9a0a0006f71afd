"""Whether tokens of ServiceAccounts are kept fresh, whose and for whom: the section `controllers.tokenRequestor`.

Source: webhooks-and-tokens §2.1, §2.2.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from hedgerow.api.shape import Int64
from hedgerow.machinery.fields import FieldError, invalid, required
from hedgerow.machinery.names import dns_label_problem, label_value_problem
from hedgerow.resource_manager.configuration.pace import CONCURRENT_SYNCS, concurrency_problems
from hedgerow.resource_manager.configuration.shape import Purpose, Section


@dataclass(frozen=True, slots=True)
class TokenRequestorSettings:
    """Whether and how the controller runs."""

    enabled: bool
    concurrent_syncs: int | None
    """How many Secrets are looked at at once; none only where the controller is not enabled."""
    class_name: str | None
    """Which Secrets are filled, by their class; none: all, whatever their class."""
    audiences: tuple[str, ...]
    """Whom tokens are made for; empty: the API server's own."""
    target_namespace: str
    """Where the ServiceAccounts are; empty: where each Secret says."""


class TokenRequestorSection(Section):
    """The section as written; an empty class is unset."""

    enabled: bool = False
    """Whether the controller runs."""
    concurrent_syncs: Int64 | None = None
    """How many Secrets are looked at at once. At least 1."""
    class_: str = Field("", alias="class")
    """Only Secrets whose label `resources.gardener.cloud/class` says so get tokens; empty: all."""
    audiences: list[str] = Field(default_factory=list)
    """Who is to believe the tokens; empty: the API server that makes them."""
    target_namespace: str = ""
    """Where the ServiceAccounts are, whatever Secrets say; empty: where each Secret says."""

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[FieldError]:
        """No worker at all, a class and a namespace that nothing can have; nothing where nobody runs by them."""
        if self.enabled:
            yield from concurrency_problems(path, self.concurrent_syncs)
        if self.enabled or purpose is Purpose.OFFLINE:
            yield from self._problems_of_scope(path)

    def settings(self) -> TokenRequestorSettings:
        """The section with its default, which a section that is not enabled does not get."""
        default = CONCURRENT_SYNCS if self.enabled else None
        return TokenRequestorSettings(
            enabled=self.enabled,
            concurrent_syncs=default if self.concurrent_syncs is None else self.concurrent_syncs,
            class_name=self.class_ or None,
            audiences=tuple(dict.fromkeys(self.audiences)),
            target_namespace=self.target_namespace,
        )

    def _problems_of_scope(self, path: str) -> Iterator[FieldError]:
        if problem := label_value_problem(self.class_):
            yield invalid(f"{path}.class", self.class_, problem)
        for index, audience in enumerate(self.audiences):
            if not audience:
                yield required(f"{path}.audiences[{index}]", "must not be empty")
        if self.target_namespace and (problem := dns_label_problem(self.target_namespace)):
            yield invalid(f"{path}.targetNamespace", self.target_namespace, problem)


def manifest(settings: TokenRequestorSettings) -> dict[str, Any]:
    """The section that states the settings in full; a class that is not set stays out of it."""
    section: dict[str, Any] = {"enabled": settings.enabled}
    if settings.concurrent_syncs is not None:
        section["concurrentSyncs"] = settings.concurrent_syncs
    if settings.class_name is not None:
        section["class"] = settings.class_name
    return {**section, "audiences": list(settings.audiences), "targetNamespace": settings.target_namespace}
