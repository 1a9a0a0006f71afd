"""Who judges ManagedResources, and who holds their Secrets, does so after who applies them."""

from typing import Any

import pytest

from hedgerow.api.managed_resources import ClassFilter
from hedgerow.machinery.controller import Controller
from hedgerow.resource_manager.health.controller import HealthConfig, health_controller, progressing_controller
from hedgerow.resource_manager.managed_resources.controller import managed_resource_controller
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig
from hedgerow.resource_manager.managed_resources.secret_finalizers import secret_controller

APPLYING = managed_resource_controller(ManagedResourceConfig())
AFTER_IT = (
    health_controller(HealthConfig()),
    progressing_controller(HealthConfig()),
    secret_controller(ClassFilter()),
)


@pytest.mark.parametrize("controller", AFTER_IT, ids=lambda controller: controller.name)
def test_what_is_still_to_be_applied_goes_first(controller: Controller[Any]) -> None:
    assert controller.yields_to == (APPLYING.name,)
    assert APPLYING.yields_to == ()
