"""Values as YAML that every reader of Kubernetes reads as the same values: without folded lines and aliases.

Quotes texts that a reader might take for another type.
"""
# ruff: noqa: TID251 -- where YAML is written

from collections.abc import Mapping
from typing import Any, Final

import yaml

from hedgerow.machinery.documents.document import plain_value

NEVER_FOLDED: Final = 2**30

# Line breaks other than \n, which YAML readers normalise, and the mark that they drop.
_NEEDS_ESCAPES: Final = frozenset("\r\x85\u2028\u2029\ufeff")


class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # libyaml's where it is compiled in
    """Writes texts so that they stay texts, and everything in full."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 -- none is wanted, whatever the data
        """Whether an object is written again where it occurs again."""
        return True


def sorted_yaml(value: Mapping[str, Any]) -> str:
    """One document, with sorted keys: equal values have equal texts."""
    return str(
        yaml.dump(
            dict(value), Dumper=Dumper, default_flow_style=False, sort_keys=True, allow_unicode=True, width=NEVER_FOLDED
        )
    )


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """A text: a block if it has lines, quoted if it would mean something else."""
    style = None if plain_value(text) == text else '"'
    if not _NEEDS_ESCAPES.isdisjoint(text):
        style = '"'
    elif "\n" in text:
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


Dumper.add_representer(str, _text)
