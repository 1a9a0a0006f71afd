"""The API server's audit log: what was asked of it, by whom, and what it answered."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

# Watches are logged when they start too: they may go on for as long as the tests do.
POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    omitManagedFields: true
"""


def read_events(
    log: Path, *, since: int = 0, user: str | None = None, verbs: Collection[str] | None = None
) -> list[dict[str, Any]]:
    """One event for each request, in the order of their first entries, each as its last entry tells it.

    A line that is still being written is left for the next time.
    """
    events: dict[str, dict[str, Any]] = {}
    if not log.exists():
        return []
    with log.open("rb") as file:
        file.seek(since)
        for line in file:
            if line.endswith(b"\n"):
                event = json.loads(line)
                events[event["auditID"]] = event
    return [event for event in events.values() if _matches(event, user, verbs)]


def query_of(event: dict[str, Any]) -> dict[str, str]:
    """The query of the request that an event tells of."""
    return dict(parse_qsl(urlsplit(event["requestURI"]).query))


def _matches(event: dict[str, Any], user: str | None, verbs: Collection[str] | None) -> bool:
    return (user is None or event["user"].get("username") == user) and (verbs is None or event["verb"] in verbs)
