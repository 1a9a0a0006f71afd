"""Whether objects of the extension API and Etcds may be stored as they are.

`kinds` holds the twelve kinds as tables, whose lines `checks` makes; rules that no table can state are in `rules` and,
for metadata, in `metadata`. `values` has the types of fields and finds what an update changes.

Source: webhooks-and-tokens §9.
"""

from hedgerow.admission.extension_validation.kinds import KINDS, review, validate_create, validate_update, webhooks

__all__ = ["KINDS", "review", "validate_create", "validate_update", "webhooks"]
