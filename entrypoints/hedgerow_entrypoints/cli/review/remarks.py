"""Why an API server would not ask about an object: what it is, which labels it has, what is enabled where."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hedgerow.admission.config import AdmissionConfig
from hedgerow.admission.registration import Mode
from hedgerow.admission.request import AdmissionRequest
from hedgerow.machinery.selectors import LabelSelector, selector_query
from hedgerow_adapters.files.sources import printable
from hedgerow_adapters.registrations import Entry
from hedgerow_adapters.registrations.dispatch import Attributes
from hedgerow_entrypoints.cli.review.course import Panel, is_asked, without_selectors
from hedgerow_entrypoints.cli.review.panels import whole_panel
from hedgerow_entrypoints.cli.review.requests import Candidate

MOST_OBJECTS: Final = 3
_SOMEWHERE: Final = "api"
"""Any name of an API server enables the webhook that wants one."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What is said once about all objects that it is true of."""

    webhook: str
    """Who would not be asked."""
    reason: str

    def about(self, candidates: Sequence[Candidate]) -> str:
        """The sentence; beyond a few objects it counts them."""
        names = [f"{printable(each.request.kind.kind)} {each.name}" for each in candidates]
        shown = ", ".join(names[:MOST_OBJECTS])
        rest = f" and {len(names) - MOST_OBJECTS} more" if len(names) > MOST_OBJECTS else ""
        asked = f"not ask {self.webhook}" if self.webhook else "ask no webhook"
        return f"an API server would {asked} about {shown}{rest}: {self.reason}"


def not_asked_by(panel: Panel, attributes: Attributes) -> Iterator[Remark]:
    """The webhooks that are for such requests, but that labels keep an API server from asking."""
    for entry in _concerned(panel, attributes):
        if not is_asked(entry, attributes):
            yield Remark(panel.webhooks[entry.client.path].name, " and ".join(_unmatched(entry, attributes)))


def asked_by_nobody(panel: Panel, attributes: Attributes) -> Remark:
    """Why labels keep an API server from asking any webhook that is for such requests."""
    reasons = dict.fromkeys(" and ".join(_unmatched(entry, attributes)) for entry in _concerned(panel, attributes))
    return Remark("", "; ".join(reasons))


def unregistered(
    candidates: Iterable[Candidate], panel: Panel, configured: AdmissionConfig | None, mode: Mode
) -> Iterator[str]:
    """What to say about requests that no webhook of a panel is registered for, whatever their labels."""
    found: dict[Remark, list[Candidate]] = {}
    for each in candidates:
        if not panel.concerns(each.request):
            remark = Remark("", _not_registered(each.request, configured, mode))
            found.setdefault(remark, []).append(each)
    yield from (remark.about(of_whom) for remark, of_whom in found.items())


def _not_registered(request: AdmissionRequest, configured: AdmissionConfig | None, mode: Mode) -> str:
    what = printable(f"{request.operation} of {request.resource.resource}")
    if configured is not None and whole_panel(None, _SOMEWHERE, mode).concerns(request):
        return f"the configuration enables none for {what}"
    elsewhere = any(whole_panel(None, _SOMEWHERE, each).concerns(request) for each in Mode)
    return f"none is registered for {what}" + (f" in mode {mode}" if elsewhere else "")


def _concerned(panel: Panel, attributes: Attributes) -> Iterator[Entry]:
    return (entry for entry in panel.entries if is_asked(without_selectors(entry), attributes))


def _unmatched(entry: Entry, attributes: Attributes) -> Iterator[str]:
    """What keeps an API server from asking a webhook that is for such requests."""
    of_namespace = replace(without_selectors(entry), namespace_selector=entry.namespace_selector)
    of_object = replace(without_selectors(entry), object_selector=entry.object_selector)
    if not is_asked(of_namespace, attributes):
        yield f"the labels of its Namespace do not match {_query(entry.namespace_selector)}"
    if not is_asked(of_object, attributes):
        yield f"its labels do not match {_query(entry.object_selector)}"


def _query(selector: LabelSelector) -> str:
    return f'"{selector_query(selector)}"'
