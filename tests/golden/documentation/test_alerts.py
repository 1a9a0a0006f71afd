"""The page for operators lists the alerts that there are."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from hedgerow.installation.alerts import Alert
from hedgerow.installation.monitoring import alerts_of
from tests.golden.installation.chart import CHARTS

PAGE: Final = Path(__file__).parents[3] / "docs" / "operations.md"
BEGIN: Final = "<!-- made by: pytest tests/golden/documentation --update-golden -->\n"
END: Final = "<!-- end of what is made -->\n"
OF_ALL: Final = "all"


def components_of(alert: Alert) -> str:
    """The components that have an alert."""
    names = [name for name, chart in CHARTS.items() if alert in alerts_of(chart.declared)]
    return OF_ALL if len(names) == len(CHARTS) else ", ".join(f"`{name}`" for name in names)


def table() -> Iterator[str]:
    alerts = dict.fromkeys(alert for chart in CHARTS.values() for alert in alerts_of(chart.declared))
    yield "| Alert | Meaning | Severity | Components |"
    yield "|---|---|---|---|"
    for alert in alerts:
        yield f"| `{alert.name}` | {alert.summary} | {alert.severity} | {components_of(alert)} |"


def test_the_page_lists_the_alerts_that_there_are(request: pytest.FixtureRequest) -> None:
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    made, _, tail = rest.partition(END)
    text = "".join(f"{line}\n" for line in table())
    if request.config.getoption("--update-golden"):
        PAGE.write_text(f"{head}{BEGIN}{text}{END}{tail}", encoding="utf-8")
        made = text

    assert made == text
