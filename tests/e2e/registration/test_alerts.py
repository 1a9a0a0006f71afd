"""An extension that cannot be installed wakes somebody."""

from pathlib import Path

import pytest

from hedgerow.registration.installation import SEED_PROCESS
from tests.e2e.alerts.monitored import Monitored, Prometheus, Scrape
from tests.e2e.registration.landscape import Landscape, SeedExtensions
from tests.e2e.registration.test_faults import LARGE
from tests.e2e.rsyslog.programs import Programs

CONDITION = "hedgerow_controller_installation_condition"


@pytest.mark.slow
def test_an_extension_that_cannot_be_installed_wakes_somebody(
    landscape: Landscape, helm: Path, programs: Programs, tmp_path: Path
) -> None:
    prometheus = Prometheus(programs, tmp_path, "seed-extensions")
    with SeedExtensions(tmp_path, landscape.seed_extensions(helm)) as process:
        process.wait_ready()
        healthy = Scrape.of(process)
        landscape.install("large", LARGE)
        failed = {"type": "Installed", "status": "False"}
        process.wait_for(lambda: process.metric(CONDITION, **failed) == 1, "reports no condition")
        failing = Monitored(healthy, Scrape.of(process), job=SEED_PROCESS)

    prometheus.require_firing(Monitored(healthy, healthy, job=SEED_PROCESS), after=60, expected={})
    prometheus.require_firing(
        failing,
        after=20,
        expected={"HedgerowInstallationFails": len(unwell(failing.then))},
        where={"HedgerowInstallationFails": {"name": "large", "severity": "critical"}},
    )


def unwell(scrape: Scrape) -> list[str]:
    """The conditions that are not as they should be; how many depends on how far the care of them has come."""
    found = [dict(series.labels) for series in scrape.values if series.name == CONDITION]
    return [each["type"] for each in found if each["type"] != "Progressing" and each["status"] != "True"]
