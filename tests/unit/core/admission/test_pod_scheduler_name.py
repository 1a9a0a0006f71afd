"""Which scheduler places pods that ask for none."""

from typing import Any

import pytest

from hedgerow.admission import creation
from hedgerow.admission.defaulters import pod_scheduler_name
from hedgerow.api.kubernetes import PODS
from tests.unit.core.admission.world import changed_object, decided


def scheduler(named: Any, configured: str = "bin-packing-scheduler") -> Any:
    """The scheduler that a pod is given; none if it stays as it is."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {"schedulerName": named}}
    after = changed_object(decided(pod_scheduler_name(configured), creation(PODS, pod)))
    return after and after["spec"]["schedulerName"]


@pytest.mark.parametrize("named", [None, "", "default-scheduler"])
def test_a_pod_that_names_no_scheduler_or_the_default_one_gets_the_configured_one(named: Any) -> None:
    assert scheduler(named) == "bin-packing-scheduler"


def test_a_scheduler_of_its_own_is_kept() -> None:
    assert scheduler("mine") is None


def test_nothing_changes_if_the_default_scheduler_is_configured() -> None:
    assert scheduler("", configured="default-scheduler") is None
