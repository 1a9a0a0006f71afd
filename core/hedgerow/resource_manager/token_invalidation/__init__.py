"""Which tokens of ServiceAccounts that lie in Secrets are not to be worth anything any more.

`labelling` decides which labels such a Secret gets, `CONSIDER` among them, and `token_invalidator` sees to it. A
ServiceAccount with the label `SKIP` is left alone. What the labels do is done by the webhook of the same name, whenever
the Secret is written. What stands here follows semantic versioning.
"""

from hedgerow.api.tokens import CONSIDER, SKIP
from hedgerow.resource_manager.token_invalidation.controller import Labelling, labelling, token_invalidator

__all__ = ["CONSIDER", "SKIP", "Labelling", "labelling", "token_invalidator"]
