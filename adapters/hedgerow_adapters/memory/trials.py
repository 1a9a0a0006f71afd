"""Whether a request wants to be answered and not done."""

from typing import Any, Final

from hedgerow_adapters.memory.field_errors import not_supported
from hedgerow_adapters.memory.statuses import invalid_options
from hedgerow_adapters.protocol.transport import Request

EVERYTHING: Final = "All"
"""The one stage up to which a dry run can go."""
_OPTIONS: Final = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions", "DELETE": "DeleteOptions"}


def is_dry_run(request: Request) -> bool:
    """Whether a request asks for a dry run; refused if it asks for something unknown.

    A deletion that has options in its body says it there, and nowhere else.
    """
    options = _OPTIONS.get(request.method)
    stages = _stages(request)
    if options is None or not stages:
        return False
    for stage in stages:
        if stage != EVERYTHING:
            raise invalid_options(options, (not_supported("dryRun", stages, (EVERYTHING,)),))
    return True


def _stages(request: Request) -> list[Any]:
    if request.method == "DELETE" and isinstance(request.body, dict):
        return list(request.body.get("dryRun") or ())
    written = request.query.get("dryRun", "")
    return [written] if written else []
