"""Which reconciliation a log line belongs to.

What is bound here is carried by every line of the task and of the tasks that it starts, whoever writes it.
"""

import uuid
from typing import Final

from structlog.contextvars import bind_contextvars, unbind_contextvars

from hedgerow.machinery.controller import SINGLETON
from hedgerow.machinery.objects import ObjectKey

RECONCILE_ID: Final = "reconcileID"
OBJECT: Final = "object"


def begin_reconciliation(key: ObjectKey) -> str:
    """From now on lines of this task carry the key and a new random identity, which is returned.

    A round of work is about no object in particular.
    """
    reconcile_id = str(uuid.uuid4())
    bind_contextvars(**{RECONCILE_ID: reconcile_id, **({} if key == SINGLETON else {OBJECT: str(key)})})
    return reconcile_id


def end_reconciliation() -> None:
    """From now on lines of this task belong to no reconciliation."""
    unbind_contextvars(OBJECT, RECONCILE_ID)
