"""Which registered webhooks an API server calls for a request, in which order, as which version; what failures mean.

Decides from the registration objects and the request alone: `entry` says whether one webhook is called, `parsing` reads
registration objects, `registrations` puts webhooks in order, repeats included. Calling them, and converting an object
to the version that a call asks for, is left to whoever runs it:

    registered = parse_registrations(manifests)  # Success(Registrations) or Failure(problems)

    progress = registered.mutating()
    while step := progress.next_call(attributes):
        call, progress = step
        ...  # send the objects of attributes.request as call.kind, to call.entry.client
        if the answer changed the object:
            attributes, progress = attributes.with_object(changed), progress.after_change()

    for call in registered.validating_for(attributes):
        ...

Source: webhooks-and-tokens §4.3; Kubernetes documentation, "Dynamic Admission Control".
"""

from hedgerow.admission.dispatch.entry import Attributes, Call, Client, Entry, Rule, Scope, call_of, failed, rejected
from hedgerow.admission.dispatch.parsing import RegistrationProblem, parse_registrations
from hedgerow.admission.dispatch.registrations import Progress, Registrations
from hedgerow.admission.dispatch.shape import is_base_url

__all__ = [
    "Attributes",
    "Call",
    "Client",
    "Entry",
    "Progress",
    "RegistrationProblem",
    "Registrations",
    "Rule",
    "Scope",
    "call_of",
    "failed",
    "is_base_url",
    "parse_registrations",
    "rejected",
]
