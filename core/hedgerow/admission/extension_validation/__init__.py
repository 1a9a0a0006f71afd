"""Whether objects of the extension API and Etcds may be stored as they are.

`kinds` holds the twelve kinds as tables, whose lines `checks` makes; rules that no table can state are in `networking`
and `rules`, those for metadata in `metadata`. `shape` checks types before, `comparison` finds what an update changes.

Source: webhooks-and-tokens §9.
"""

from hedgerow.admission.extension_validation.kinds import KINDS, validate_create, validate_update
from hedgerow.admission.extension_validation.webhook import NAME, path_of, review, webhooks

__all__ = ["KINDS", "NAME", "path_of", "review", "validate_create", "validate_update", "webhooks"]
