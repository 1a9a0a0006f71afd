"""The sections of the reference's configuration that this version does not act on.

They are known, so that a file written for the reference is read without surprise: switched off they pass in silence,
switched on they are refused, because a controller that silently does not run is worse than none. Only who switches the
token invalidator on is told instead, as its webhook, which exists, asks for it.

Their fields are named, so that a misspelt one is noticed, but not looked at.

Source: managed-resources §3.1.
"""

from collections.abc import Iterator
from typing import Any, Final

from pydantic import Field

from hedgerow.machinery.fields import FieldError, forbidden
from hedgerow.resource_manager.configuration.shape import Purpose, Section

IS_AN_ALIAS: Final = "is an alias of tokenInvalidator"


class Unserved(Section):
    """A section with a switch that must be off."""

    enabled: bool = False

    def problems(self, path: str, _purpose: Purpose, /) -> Iterator[FieldError]:
        """The switch, where it is on."""
        if self.enabled:
            yield forbidden(path, "this controller does not exist in this version")


class KubeletCSRApprover(Unserved):
    """`controllers.kubeletCSRApprover`."""

    concurrent_syncs: Any = None
    machine_namespace: Any = None


class Node(Unserved):
    """`controllers.node`."""

    concurrent_syncs: Any = None
    backoff: Any = None


class TokenInvalidator(Section):
    """`controllers.tokenInvalidator`; its switch goes with that of the webhook, which exists."""

    enabled: bool = False
    concurrent_syncs: Any = None

    @property
    def remark(self) -> str:
        """That the webhook works alone."""
        return "the controller does not exist in this version: no Secret is marked" if self.enabled else ""


class TokenValidator(TokenInvalidator):
    """`controllers.tokenValidator`, an older name."""

    @property
    def remark(self) -> str:
        """What the name of today is, and what there is to say of that."""
        return "; ".join(filter(None, (IS_AN_ALIAS, super().remark)))


class TokenRequestor(Unserved):
    """`controllers.tokenRequestor`."""

    concurrent_syncs: Any = None
    class_: Any = Field(None, alias="class")
    audiences: Any = None
    target_namespace: Any = None
