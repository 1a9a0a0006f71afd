"""When an Extension that fails wakes a person, and the row of the dashboard about Extensions.

Does not decide what the state of an Extension is (`operations`).
"""

from typing import Final

from hedgerow.extensions.operations import REPORTED
from hedgerow.installation.alerts import Alert, object_alert
from hedgerow.installation.panels import row_of_objects

ALERTS: Final[tuple[Alert, ...]] = (
    object_alert(
        "HedgerowExtensionFails",
        REPORTED.metric,
        # Each attempt begins with the state `Processing`, and one that waits may never leave it.
        {REPORTED.aspect: '=~".+"', REPORTED.value: '!="Succeeded"'},
        hold="15m",
        severity="critical",
        summary="The last operation of an Extension has not succeeded within 15 minutes.",
    ),
)
ROWS: Final = (row_of_objects("Extensions", REPORTED.metric, REPORTED.aspect, REPORTED.value, 'state!="Succeeded"'),)
