"""Recorded watch events, and the keys that they enqueue."""

from collections.abc import Mapping
from typing import Any

from hedgerow.machinery import snapshot_of
from hedgerow.machinery.controller import Change, Controller, concerned_keys
from hedgerow.machinery.objects import Kind


class RecordedEvent:
    """A watch event, as a controller hears of it."""

    def __init__(self, controller: Controller[Any], recording: Mapping[str, Any]) -> None:
        self.recording = recording
        kind = Kind.of(recording["object"])
        (self.watch,) = (each for each in controller.watches if each.resource.object_kind == kind)
        self.snapshot = snapshot_of(controller, recording["objects"]).unwrap()
        old, new = (each and self.watch.transform(each) for each in (recording["old"], recording["object"]))
        self.change = Change(new, None) if recording["event"] == "delete" else Change(old, new)

    def passes(self) -> bool:
        """Whether the predicate of the watch lets it pass."""
        return self.watch.predicate(self.change)

    def keys(self) -> set[str]:
        """The names of the keys that it enqueues."""
        return {key.name for key in concerned_keys(self.watch, self.change, self.snapshot)}


def compare_keys(controller: Controller[Any], recording: Mapping[str, Any]) -> None:
    """The same keys are enqueued, and those of the seeds that the object is leaving.

    What no decision reads is not in the caches: events that the reference lets pass for it enqueue nothing there.
    """
    keys = RecordedEvent(controller, recording).keys()
    versions = (each for each in (recording["old"], recording["object"]) if each)
    left = {each.get(part, {}).get("seedName") for each in versions for part in ("spec", "status")}
    assert {*recording["keys"]} <= keys <= {*recording["keys"], *left}


def compare_filter(controller: Controller[Any], recording: Mapping[str, Any]) -> None:
    """The same events pass. A resync is not one of them here: the runtime enqueues every key then."""
    versions = [each and each["metadata"]["resourceVersion"] for each in (recording["old"], recording["object"])]
    if recording["event"] == "update" and len({*versions}) == 1:
        return
    assert RecordedEvent(controller, recording).passes() is recording["passes"]
