"""Which fields hold what no message may repeat: scripts, files and whatever else may hold credentials.

Messages reach logs, audit logs and whoever may see an object's events.
"""

import re
from typing import Final

_CONFIDENTIAL: Final = re.compile(r"(?:^|\.)(?:userData|content|data)(?![^.\[])")


def is_confidential(path: str) -> bool:
    """Whether the field at a path is confidential, or inside of one that is."""
    return _CONFIDENTIAL.search(path) is not None
