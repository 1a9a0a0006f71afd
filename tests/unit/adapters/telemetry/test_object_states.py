"""The states of single objects as Prometheus reads them."""

from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from hedgerow.machinery.controller import Change
from hedgerow.machinery.reported_states import ReportedStates, conditions_reported
from hedgerow_adapters.telemetry.metrics import RuntimeMetrics

METRIC = "hedgerow_managed_resource_condition"
APPLIED, HEALTHY = "ResourcesApplied", "ResourcesHealthy"


def delivery(name: str, namespace: str = "shop", **statuses: str) -> dict[str, Any]:
    conditions = [{"type": type_, "status": status} for type_, status in statuses.items()]
    return {"metadata": {"namespace": namespace, "name": name}, "status": {"conditions": conditions}}


class Told:
    """The metrics of a process that reports the conditions of its objects."""

    def __init__(self) -> None:
        self._metrics = RuntimeMetrics()
        reported = ReportedStates(METRIC, "Conditions.", conditions_reported(APPLIED, HEALTHY))
        self.changed = self._metrics.object_states(reported).changed

    def series(self) -> list[tuple[str, ...]]:
        """The labels of the series in order, each of which has the value 1."""
        families = text_string_to_metric_families(self._metrics.exposition().decode())
        (samples,) = [family.samples for family in families if (family.name, family.type) == (METRIC, "gauge")]
        assert {sample.value for sample in samples} <= {1}
        return [tuple(sample.labels.values()) for sample in samples]


def test_every_state_of_every_object_is_a_series() -> None:
    told = Told()

    told.changed([Change(None, delivery("cart", ResourcesApplied="True", ResourcesHealthy="False"))])
    told.changed([Change(None, delivery("stock", ResourcesApplied="True"))])

    assert told.series() == [
        ("shop", "cart", APPLIED, "True"),
        ("shop", "cart", HEALTHY, "False"),
        ("shop", "stock", APPLIED, "True"),
    ]


def test_a_state_that_changes_takes_the_place_of_the_last_one() -> None:
    told, old, new = Told(), delivery("cart", ResourcesApplied="True"), delivery("cart", ResourcesApplied="False")

    told.changed([Change(None, old)])
    told.changed([Change(old, new)])

    assert told.series() == [("shop", "cart", APPLIED, "False")]


def test_the_series_of_an_object_go_with_it() -> None:
    told, gone, stateless = (
        Told(),
        delivery("cart", ResourcesApplied="True"),
        delivery("stock", ResourcesApplied="True"),
    )

    told.changed([Change(None, gone), Change(None, stateless)])
    told.changed([Change(gone, None), Change(stateless, delivery("stock"))])

    assert told.series() == []


def test_one_of_thousands_is_seen() -> None:
    told = Told()

    told.changed([Change(None, delivery(f"mr-{number}", ResourcesApplied="True")) for number in range(3000)])
    failing = delivery("mr-1234", ResourcesApplied="False")
    told.changed([Change(delivery("mr-1234", ResourcesApplied="True"), failing)])

    series = told.series()
    assert len(series) == 3000
    assert [labels for labels in series if labels[-1] == "False"] == [("shop", "mr-1234", APPLIED, "False")]


def test_an_object_without_a_namespace_has_no_label_for_it() -> None:
    told = Told()

    told.changed([Change(None, delivery("cart", "", ResourcesApplied="True"))])

    assert told.series() == [("cart", APPLIED, "True")]


def test_a_text_that_nobody_vouches_for_stays_within_its_label() -> None:
    told, text = Told(), 'x"} 1\nup\\'

    told.changed([Change(None, delivery("cart", ResourcesApplied=text))])

    assert told.series() == [("shop", "cart", APPLIED, text)]
