"""In which order registered webhooks are called, and which of them a second time.

Mutating webhooks are called one after the other, each with what the ones before made of the object, in the order of
the names of their registration objects and, within one, of its list. If the object was changed, those that ask for it
are called once more: a webhook after which another one changed something. None is called for the first time then.

Source: webhooks-and-tokens §4.3; Kubernetes documentation, "Dynamic Admission Control", reinvocation policy.
"""

from dataclasses import dataclass, replace

from hedgerow.admission.dispatch.entry import Attributes, Call, Entry, call_of

_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Registrations:
    """All webhooks that an API server knows, in the order in which it calls them."""

    mutating_entries: tuple[Entry, ...] = ()
    validating_entries: tuple[Entry, ...] = ()

    def mutating(self) -> "Progress":
        """The beginning of a request's way through the mutating webhooks."""
        return Progress(self.mutating_entries)

    def validating_for(self, attributes: Attributes) -> tuple[Call, ...]:
        """The calls of validating webhooks for a request whose object no one changes any more."""
        calls = (call_of(entry, attributes) for entry in self.validating_entries)
        return tuple(call for call in calls if call)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a request has come on its way through the mutating webhooks, as places in their list."""

    entries: tuple[Entry, ...]
    position: int = 0
    """The first one that has not been looked at in this round."""
    is_repeat: bool = False
    """Whether this is the second and last round."""
    repeatable: frozenset[int] = _NONE
    """Called so far, among those that ask to be called again."""
    repeated: frozenset[int] = _NONE
    """To be called in the second round, because something was changed after they were called."""

    def next_call(self, attributes: Attributes) -> "tuple[Call, Progress] | None":
        """The next call that a request needs, and the progress with it; none at the end of the way.

        Args:
            attributes: the request with its object as it is now.
        """
        for place in range(self.position, len(self.entries)):
            if self.is_repeat and place not in self.repeated:
                continue
            if call := call_of(self.entries[place], attributes):
                again = self.repeatable | {place} if call.entry.is_repeated else self.repeatable
                return call, replace(self, position=place + 1, repeatable=again)
        if self.is_repeat or not self.repeated:
            return None
        return replace(self, position=0, is_repeat=True).next_call(attributes)

    def after_change(self) -> "Progress":
        """The progress if the webhook called last has changed the object: those before it get another turn."""
        # Whoever changed the object last has seen it as it is; whoever changed it before that has not.
        return replace(self, repeated=self.repeatable - {self.position - 1})
