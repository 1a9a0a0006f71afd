"""Whether objects of the extension API and Etcds may be stored as they are.

Decides from the object alone, and from the one it replaces. `kinds` is the table of the twelve kinds; those with rules
of their own have a module each: `dns_record`, `network`, `operating_system_config`, `worker`, `etcd`. A kind is a list
of `checks` over a raw object whose `shape` has been checked before; `metadata` holds what all have in common.

Source: webhooks-and-tokens §9.
"""

from hedgerow.admission.extension_validation.kinds import KINDS, validate_create, validate_update
from hedgerow.admission.extension_validation.webhook import NAME, path_of, review, webhooks

__all__ = ["KINDS", "NAME", "path_of", "review", "validate_create", "validate_update", "webhooks"]
