"""The states of single objects as series of a metric: one object that fails among thousands is seen.

Guarantees: the series of an object go with it. What costs is the change of an object, not their number: objects in the
same states share these, and a line is made when somebody asks for the metrics. The client library is left out, as it
would take a second for the conditions of ten thousand objects.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import ObjectKey, key_of
from hedgerow.machinery.reported_states import ReportedStates, States

_ESCAPES: Final = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


class ObjectStates:
    """The states of the objects of one resource, as the cache has them."""

    def __init__(self, reported: ReportedStates) -> None:
        self._reported: Final = reported
        self._states: dict[ObjectKey, States] = {}
        self._shared: dict[States, States] = {}

    def changed(self, changes: Iterable[Change]) -> None:
        """Note the states of the objects that came, changed or went."""
        for change in changes:
            if change.new is not None:
                self._note(key_of(change.new), self._reported.of(change.new))
            elif change.old is not None:
                self._note(key_of(change.old), ())

    def _note(self, key: ObjectKey, states: States) -> None:
        if states:
            self._states[key] = self._shared.setdefault(states, states)
        else:
            self._states.pop(key, None)

    def exposition(self) -> str:
        """The metric in the text format of Prometheus, version 0.0.4."""
        return "".join(self._lines())

    def _lines(self) -> Iterator[str]:
        metric = self._reported.metric
        yield f"# HELP {metric} {self._reported.meaning}\n# TYPE {metric} gauge\n"
        ends = {states: self._ends(states) for states in self._shared}
        for (namespace, name), states in self._states.items():
            within = f'namespace="{namespace}",' if namespace else ""
            start = f'{metric}{{{within}name="{name}"'
            yield start + start.join(ends[states])

    def _ends(self, states: States) -> list[str]:
        """What follows the object in each line of these states, whose texts may hold anything."""
        aspect, value = self._reported.aspect, self._reported.value
        return [
            f',{aspect}="{each.translate(_ESCAPES)}",{value}="{of.translate(_ESCAPES)}"}} 1\n' for each, of in states
        ]
