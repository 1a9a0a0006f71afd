"""The port by which a record is kept free of what nobody may read: everything is shown through it.

What it shows instead has to be like the original in all that decisions are made by, as far as that is possible: the
same for the same, another for another, readable where the original is.
"""

from typing import Protocol

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.plan import WriteResult
from hedgerow.machinery.questions import Answer, Question


class TooMuchToShowError(Exception):
    """A turn was told more than can be disguised while others wait; the text is one clause."""


class Disguise(Protocol):
    """What is shown of the things that the decisions of one turn are told."""

    def object(self, resource: Resource, cluster: Cluster, manifest: Manifest) -> Manifest:
        """What is shown of an object of a snapshot."""
        ...

    def answer(self, question: Question, answer: Answer) -> Answer:
        """What is shown of an answer, whose question is shown as it is."""
        ...

    def outcome(self, outcome: WriteResult) -> WriteResult:
        """What is shown of an outcome."""
        ...


class Wardrobe(Protocol):
    """Where disguises are from."""

    def disguise(self) -> Disguise:
        """One for a turn that begins."""
        ...
