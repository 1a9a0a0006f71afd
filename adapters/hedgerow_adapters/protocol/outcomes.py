"""What an API server's answer to a write means for the action that asked for it.

Pure: decides from the action and the answer alone.
"""

from collections.abc import Mapping

from hedgerow.machinery.objects import Manifest, is_terminating
from hedgerow.machinery.plan import Action, Delete, DeleteCollection, Outcome, Refusal
from hedgerow_adapters.protocol.api_errors import ApiError, api_error
from hedgerow_adapters.protocol.transport import Response


def outcome_of(action: Action, response: Response) -> Outcome:
    """What became of an action, in the words of the server; to delete what is gone is a success."""
    if response.is_success:
        return Outcome(action, stored_by(action, response))
    error = api_error(response)
    return Outcome(action) if is_done_already(action, error) else Outcome(action, refusal=refusal_of(error))


def stored_by(action: Action, response: Response) -> Manifest | None:
    """The object as a server has it after an action that it carried out; none where it is gone, or it does not say."""
    body = response.body
    if isinstance(action, DeleteCollection) or not isinstance(body, Mapping):
        return None
    if isinstance(action, Delete) and (body.get("kind") == "Status" or not is_terminating(body)):
        # Some kinds are answered with the object although it is gone: only the mark says that it is still there.
        return None
    return body


def is_done_already(action: Action, error: ApiError) -> bool:
    """Whether a refusal says that there is nothing left to do."""
    return isinstance(action, Delete) and error.is_not_found


def refusal_of(error: ApiError) -> Refusal:
    """A refusal as decisions are told it."""
    return Refusal(error.status, error.reason, error.message, error.details)
