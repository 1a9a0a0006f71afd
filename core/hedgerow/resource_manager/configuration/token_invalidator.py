"""Whether static tokens are made worthless: the section `controllers.tokenInvalidator`.

Its switch goes with that of the webhook, which is why the document as a whole compares them.

Source: managed-resources §3.1, webhooks-and-tokens §2.1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from hedgerow.api.shape import Int64
from hedgerow.resource_manager.configuration.pace import CONCURRENT_SYNCS
from hedgerow.resource_manager.configuration.shape import Section

IS_AN_ALIAS: Final = "is an alias of tokenInvalidator"


@dataclass(frozen=True, slots=True)
class TokenInvalidatorSettings:
    """Whether and how the controller runs."""

    enabled: bool
    concurrent_syncs: int | None
    """How many Secrets are looked at at once; none only where the controller is not enabled."""


class TokenInvalidatorSection(Section):
    """The section as written.

    The reference runs one worker whatever the file says of them, and so does whoever asks for less than one.
    """

    enabled: bool = False
    """Whether the controller runs."""
    concurrent_syncs: Int64 | None = None
    """How many Secrets are looked at at once; less than 1 counts as 1."""

    @property
    def remark(self) -> str:
        """What is made of an impossible number of workers, and that the section has another name today."""
        return "; ".join(self._remarks())

    def settings(self) -> TokenInvalidatorSettings:
        """The section with its default, which a section that is not enabled does not get."""
        if not self.enabled:
            return TokenInvalidatorSettings(enabled=False, concurrent_syncs=self.concurrent_syncs)
        written = CONCURRENT_SYNCS if self.concurrent_syncs is None else self.concurrent_syncs
        return TokenInvalidatorSettings(enabled=True, concurrent_syncs=max(written, 1))

    def _remarks(self) -> Iterator[str]:
        if self.enabled and self.concurrent_syncs is not None and self.concurrent_syncs < 1:
            yield f"one worker runs instead of {self.concurrent_syncs}"


class TokenValidatorSection(TokenInvalidatorSection):
    """`controllers.tokenValidator`, an older name."""

    def _remarks(self) -> Iterator[str]:
        yield IS_AN_ALIAS
        yield from super()._remarks()


def manifest(settings: TokenInvalidatorSettings) -> dict[str, Any]:
    """The section that states the settings in full."""
    section: dict[str, Any] = {"enabled": settings.enabled}
    if settings.concurrent_syncs is not None:
        section["concurrentSyncs"] = settings.concurrent_syncs
    return section
