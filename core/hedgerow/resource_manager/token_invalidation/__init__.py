"""Which tokens of ServiceAccounts that lie in Secrets are not to be worth anything any more.

`labelling` decides which labels such a Secret gets, and `token_invalidator` sees to it. What the labels do is done by
the webhook of the same name, whenever the Secret is written. What stands here follows semantic versioning.
"""

from hedgerow.resource_manager.token_invalidation.controller import Labelling, labelling, needs_pods, token_invalidator

__all__ = ["Labelling", "labelling", "needs_pods", "token_invalidator"]
