"""What a process may not write, it tells of in the words of the API server; all others are served as ever."""

from collections.abc import Iterator

import pytest

from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import config_map, named
from tests.e2e.managed_resources.sandbox import ManagedResourceSandbox
from tests.e2e.permissions import account_kubeconfig, grant, revoke, user_of


@pytest.fixture
def home(sandbox: ManagedResourceSandbox) -> Iterator[str]:
    """The namespace of an account that may do what the example allows, and nothing to delivered objects."""
    name = f"{sandbox.namespace}-home"
    sandbox.create(named("v1", "Namespace", "", name))
    grant(sandbox.control_plane, name)
    yield name
    revoke(sandbox.control_plane, name)


@pytest.fixture
def manager(sandbox: ManagedResourceSandbox, home: str) -> Iterator[Manager]:
    """A process with that account."""
    kubeconfig = account_kubeconfig(sandbox.control_plane, home, sandbox.folder)
    config = {**sandbox.configuration(), "sourceClientConnection": {"kubeconfig": str(kubeconfig)}}
    with Manager(sandbox.folder, config) as running:
        running.wait_ready()
        yield running


def test_an_object_that_may_not_be_written_is_told_of_exactly(
    sandbox: ManagedResourceSandbox, home: str, manager: Manager
) -> None:
    managed = sandbox.deliver("shop", config_map(sandbox.namespace, "settings"))

    refusal = (
        f'configmaps is forbidden: User "{user_of(home)}" cannot create resource "configmaps" in API group "" '
        f'in the namespace "{sandbox.namespace}"'
    )
    message = f'error during apply of object "v1/ConfigMap/{sandbox.namespace}/settings": {refusal}'
    sandbox.wait_for_condition(managed, "ResourcesApplied", ("False", "ApplyFailed", message))

    sandbox.delete(managed)
    sandbox.wait_until_gone(managed)
