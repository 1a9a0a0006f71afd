"""What a process may not write, it tells of in the words of the API server; all others are served as ever."""

from collections.abc import Iterator

import pytest

from tests.e2e.managed_resources.estate import Estate
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import config_map, named
from tests.e2e.permissions import account_kubeconfig, grant, revoke, user_of


@pytest.fixture
def home(estate: Estate) -> Iterator[str]:
    """The namespace of an account that may do what the example allows, and nothing to delivered objects."""
    name = f"{estate.namespace}-home"
    estate.create(named("v1", "Namespace", "", name))
    grant(estate.control_plane, name)
    yield name
    revoke(estate.control_plane, name)


@pytest.fixture
def manager(estate: Estate, home: str) -> Iterator[Manager]:
    """A process with that account."""
    kubeconfig = account_kubeconfig(estate.control_plane, home, estate.folder)
    config = {**estate.configuration(), "sourceClientConnection": {"kubeconfig": str(kubeconfig)}}
    with Manager(estate.folder, config) as running:
        running.wait_ready()
        yield running


def test_an_object_that_may_not_be_written_is_told_of_exactly(estate: Estate, home: str, manager: Manager) -> None:
    managed = estate.deliver("shop", config_map(estate.namespace, "settings"))

    refusal = (
        f'configmaps is forbidden: User "{user_of(home)}" cannot create resource "configmaps" in API group "" '
        f'in the namespace "{estate.namespace}"'
    )
    message = f'error during apply of object "v1/ConfigMap/{estate.namespace}/settings": {refusal}'
    estate.wait_for_condition(managed, "ResourcesApplied", ("False", "ApplyFailed", message))

    estate.delete(managed)
    estate.wait_until_gone(managed)
