"""What the log says of credentials that an API server refuses."""

import io
import json

import pytest

from hedgerow_adapters.telemetry.credentials import CredentialsTelemetry
from hedgerow_adapters.telemetry.logs import configure_logs, get_logger

REFUSED = ("error", "API server refuses the credentials")
ACCEPTED = ("info", "API server accepts the credentials again")


def told(*answers: tuple[float, str]) -> list[tuple[str, str]]:
    """Level and message of the lines after answers with these codes at these times."""
    stream, now = io.StringIO(), 0.0
    configure_logs("info", "json", stream)
    telemetry = CredentialsTelemetry(get_logger("x"), clock=lambda: now)
    for time, code in answers:
        now = time
        telemetry.heard(code)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    return [(line["level"], line["msg"]) for line in lines]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([(0, "200"), (1, "403")], []),
        ([(0, "401"), (0.1, "401"), (0.2, "200"), (5, "401")], []),
        ([(0, "401"), (3, "401"), (60, "401")], [REFUSED]),
        ([(0, "401"), (3, "<error>"), (4, "401")], [REFUSED]),
        ([(0, "401"), (3, "401"), (604, "401")], [REFUSED, REFUSED]),
        ([(0, "401"), (3, "401"), (4, "200"), (5, "200")], [REFUSED, ACCEPTED]),
    ],
    ids=["accepted", "replaced in time", "refused", "away in between", "a reminder", "accepted again"],
)
def test_a_refusal_that_lasts_is_told_and_its_end(
    answers: list[tuple[float, str]], expected: list[tuple[str, str]]
) -> None:
    assert told(*answers) == expected
