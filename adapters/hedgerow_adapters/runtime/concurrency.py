"""How many keys of a controller are under way at once.

A decision takes no time; what takes time are the answers to writes. A worker that did nothing else meanwhile would
leave an API server idle that works best on many requests at a time, so each has a few keys under way, though no key
twice. What bounds the load are the requests in flight. Source: decision A-3.
"""

from typing import Any, Final

from hedgerow.machinery.controller import Controller

KEYS_OF_A_WORKER: Final = 3


def keys_under_way(controller: Controller[Any]) -> int:
    """The most keys that are reconciled at a time, which metrics call concurrent reconciles."""
    return controller.concurrency * KEYS_OF_A_WORKER
