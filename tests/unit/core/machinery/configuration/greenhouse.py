"""The configuration of a component that does not exist, with every kind of field."""

from collections.abc import Mapping
from dataclasses import field
from datetime import timedelta
from typing import Annotated

from hedgerow.machinery.configuration.reading import Document
from hedgerow.machinery.configuration.rules import at_least, labels, longer_than_zero, must_be_set, one_of
from hedgerow.machinery.configuration.section import (
    IDLE,
    LIMIT,
    ZERO_IS_UNSET,
    Alias,
    Bits,
    Named,
    Section,
    Switched,
    WhenEnabled,
)


class Irrigation(Switched):
    """Waters the beds."""

    period: Annotated[timedelta | None, longer_than_zero(), WhenEnabled(timedelta(hours=6))] = None
    """Between two rounds."""
    pumps: Annotated[int | None, Bits(8), at_least(1, only_if_enabled=True), WhenEnabled(2)] = None
    """How many run at once."""


class Bed(Section):
    """One bed."""

    is_strict = True
    omits_defaults = True

    plant: Annotated[str, must_be_set("must name a plant")] = ""
    """What grows there."""
    tags: Annotated[Mapping[str, str], labels()] = field(default_factory=dict)
    """How it is found."""


class Greenhouse(Document):
    """The configuration of a greenhouse."""

    api_version = "example.com/v1"
    kind = "Greenhouse"

    irrigation: Irrigation = Irrigation()
    log_level: Annotated[str, ZERO_IS_UNSET, one_of(("info", "debug"))] = "info"
    """How much is logged."""
    warmth: Annotated[float, Named("temperature")] = 21
    """In degrees."""
    owners: Annotated[
        tuple[str, ...], Alias("owner", "An older spelling", is_single=True, is_deprecated=True), LIMIT
    ] = ()
    """Who may enter."""
    music: Annotated[bool, IDLE] = False
    """Not acted on."""
    beds: tuple[Bed, ...] = ()
    """The beds."""


HEAD = {"apiVersion": "example.com/v1", "kind": "Greenhouse"}
