"""What a process tells people and machines about itself: log lines and metrics.

`logs` makes every line, those of libraries included, one JSON object or one readable line, and gives all lines of one
reconciliation the same `reconcileID`. `metrics` holds the numbers under the names that operators of controller-runtime
know. `controller`, `reading`, `listening` and `webhooks` turn what each of these reports into both. All they decide is
what is worth a line.
"""

from hedgerow_adapters.telemetry.controller import ControllerTelemetry
from hedgerow_adapters.telemetry.logs import (
    Format,
    Level,
    begin_reconciliation,
    configure_logs,
    end_reconciliation,
    get_logger,
)
from hedgerow_adapters.telemetry.metrics import ControllerMetrics, QueueMetrics, ReadingMetrics, RuntimeMetrics
from hedgerow_adapters.telemetry.reading import ReadingTelemetry

__all__ = [
    "ControllerMetrics",
    "ControllerTelemetry",
    "Format",
    "Level",
    "QueueMetrics",
    "ReadingMetrics",
    "ReadingTelemetry",
    "RuntimeMetrics",
    "begin_reconciliation",
    "configure_logs",
    "end_reconciliation",
    "get_logger",
]
