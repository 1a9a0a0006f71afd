"""What is written in place of a live object, and whether it has to be.

Start with `merge`, which needs no more than the two objects and what else has a say. `application`, which says whether
there is anything to write, is exported one level up: a module of that name is here.
"""

from hedgerow.resource_manager.managed_resources.merge.merging import Instructions, merge

__all__ = ["Instructions", "merge"]
