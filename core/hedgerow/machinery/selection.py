"""Which objects of a resource two queries select together: by their labels, and by their fields.

Source: Kubernetes documentation, "Labels and Selectors" and "Field Selectors".
"""

from collections.abc import Callable
from functools import lru_cache

from hedgerow.machinery.field_selectors import parse_field_query
from hedgerow.machinery.objects import Manifest, labels_of
from hedgerow.machinery.selectors import parse_selector_query


@lru_cache
def selected_by(label_selector: str, field_selector: str) -> Callable[[Manifest], bool]:
    """Whether an object is selected; the queries are parsed once for all objects that are looked at.

    Args:
        label_selector: a valid query; empty: whatever the labels.
        field_selector: a valid query; empty: whatever is in the fields.
    """
    labels, fields = parse_selector_query(label_selector).unwrap(), parse_field_query(field_selector).unwrap()

    def is_selected(manifest: Manifest) -> bool:
        return labels.matches(labels_of(manifest)) and all(term.matches(manifest) for term in fields)

    return is_selected
