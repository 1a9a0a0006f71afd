"""An Extension that fails wakes somebody."""

from pathlib import Path

from hedgerow.api.kubernetes import CONFIG_MAPS
from hedgerow.rsyslog_relp.naming import MONITORING_CONFIG_MAP
from hedgerow.rsyslog_relp.registration import NAME
from tests.e2e.alerts.monitored import Monitored, Prometheus, Scrape
from tests.e2e.rsyslog.programs import Programs
from tests.e2e.rsyslog.seed import TYPE, ExtensionProcess, Shoot

OPERATION = "hedgerow_extension_operation"


def test_an_extension_that_fails_wakes_somebody(shoot: Shoot, programs: Programs, tmp_path: Path) -> None:
    prometheus = Prometheus(programs, tmp_path, "rsyslog-relp")
    fixed = {"metadata": {"namespace": shoot.namespace, "name": MONITORING_CONFIG_MAP}, "immutable": True}
    shoot.create(CONFIG_MAPS, {**fixed, "data": {"alerting_rules": "of somebody else"}})
    shoot.enable()
    with ExtensionProcess(tmp_path, shoot.settings(), name="extension") as process:
        process.wait_ready()
        process.wait_for(lambda: process.metric(OPERATION, state="Error") == 1, "reports no error")
        failing = Scrape.of(process)
        shoot.clear()
        process.wait_for(lambda: process.metric(OPERATION) == 0, "reports what is gone")
        gone = Scrape.of(process)

    prometheus.require_firing(
        Monitored(failing, failing, job=NAME),
        after=20,
        expected={"HedgerowExtensionFails": 1},
        where={"HedgerowExtensionFails": {"exported_namespace": shoot.namespace, "name": TYPE}},
    )
    prometheus.require_firing(Monitored(failing, gone, job=NAME), after=20, expected={})
