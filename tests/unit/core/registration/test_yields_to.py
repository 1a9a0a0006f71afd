"""What is still to be installed goes before what tells how it is: else each step of an installation is told."""

from hedgerow.registration.care import care_controller
from hedgerow.registration.chart_deployment import InstallationConfig
from hedgerow.registration.conditions import CheckConfig
from hedgerow.registration.installing import installation_controller
from hedgerow.registration.required import required_controller
from hedgerow.registration.seed_check import seed_check_controller

SEED = "seed"
INSTALLING = installation_controller(InstallationConfig(SEED))
CARE = care_controller(CheckConfig(SEED))


def test_what_is_still_to_be_installed_goes_first() -> None:
    assert INSTALLING.yields_to == ()
    assert CARE.yields_to == (INSTALLING.name,)
    assert required_controller(CheckConfig(SEED)).yields_to == (INSTALLING.name,)


def test_a_seed_is_judged_after_its_installations() -> None:
    assert seed_check_controller(CheckConfig(SEED)).yields_to == (INSTALLING.name, CARE.name)
