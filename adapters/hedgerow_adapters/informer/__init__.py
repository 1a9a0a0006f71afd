"""Lists and watches that keep a cache in step with an API server."""

from hedgerow_adapters.informer.informer import Informer, InformerObserver, Watched
from hedgerow_adapters.informer.machine import Delivery, Gather, Put, Remove, Replace
from hedgerow_adapters.informer.recovery import Recovery

__all__ = ["Delivery", "Gather", "Informer", "InformerObserver", "Put", "Recovery", "Remove", "Replace", "Watched"]
