"""What is wrong with an object of one of the twelve kinds, or with an update of it.

Source: webhooks-and-tokens §9.1, §9.2.
"""

from typing import Any

from hedgerow.admission.extension_validation.kinds import KINDS
from hedgerow.machinery.fields import Problem


def validate_create(kind: str, manifest: Any) -> tuple[Problem, ...]:
    """What is wrong with an object that is to be created: metadata first, then the spec.

    Args:
        kind: name of the kind, one of KINDS.
        manifest: the object, of any JSON type. Where fields have a wrong type these alone are told.
    """
    rules = KINDS[kind]
    return rules.misfits(manifest) or tuple(rules.errors(manifest))


def validate_update(kind: str, new: Any, old: Any) -> tuple[Problem, ...]:
    """What is wrong with an update: the change of metadata, that of the spec, then the new object as if created.

    Args:
        kind: name of the kind, one of KINDS.
        new: the object as it is to be, of any JSON type. Where fields have a wrong type these alone are told.
        old: the object as it is; likewise.
    """
    rules = KINDS[kind]
    return rules.misfits(new) or rules.misfits(old) or tuple(rules.update_errors(new, old))
