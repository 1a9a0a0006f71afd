"""What all values are made of: objects that refuse what they do not declare, and texts and quantities in them.

Source: managed-resources §3.1, §4.
"""

from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from hedgerow.api.shape import Typed

Name = Annotated[str, Field(min_length=1)]
Texts = dict[str, str]
Quantity = str | int | float
Quantities = dict[str, Quantity]


class Part(Typed):
    """An object among the values: what it does not declare is refused, as it would be ignored."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", alias_generator=to_camel, use_attribute_docstrings=True
    )
