"""What the API server says about a label selector inside an object.

The syntax of keys and values is decided by `hedgerow.machinery.names`; here it is only put into the server's causes,
which carry a reason each and name `matchLabels` as a whole.
"""

from collections.abc import Iterator
from typing import Final

from hedgerow.machinery.names import label_key_problem, label_value_problem
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.field_errors import FieldError, checked, forbidden, invalid, required
from hedgerow_adapters.memory.shapes import Shape, list_of, optional_text, structure, text_map, texts

LABEL_SELECTOR: Final[Shape] = structure(
    {
        "matchLabels": text_map,
        "matchExpressions": list_of(structure({"key": optional_text, "operator": optional_text, "values": texts})),
    }
)


def label_errors(labels: Manifest, path: str) -> Iterator[FieldError]:
    """Errors of labels, or of what has to be equal to labels."""
    for key, value in labels.items():
        yield from checked(path, key, label_key_problem(key))
        yield from checked(path, value, label_value_problem(value))


def label_selector_errors(selector: Manifest, path: str) -> Iterator[FieldError]:
    """Errors of a label selector."""
    yield from label_errors(selector.get("matchLabels", {}), f"{path}.matchLabels")
    for index, requirement in enumerate(selector.get("matchExpressions", ())):
        yield from _requirement_errors(requirement, f"{path}.matchExpressions[{index}]")


def _requirement_errors(requirement: Manifest, path: str) -> Iterator[FieldError]:
    operator, values = requirement.get("operator", ""), requirement.get("values", ())
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    else:
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    key = requirement.get("key", "")
    yield from checked(f"{path}.key", key, label_key_problem(key))
    for index, value in enumerate(values):
        yield from checked(f"{path}.values[{index}]", value, label_value_problem(value))
