"""What a process is told, whatever component it runs."""

import pytest

from hedgerow.machinery.configuration.process import ClientConnection, LeaderElection, Server
from hedgerow_entrypoints.process.settings import ProcessSettings

SOURCE = ClientConnection(kubeconfig="/file/source")
TARGET = ClientConnection(kubeconfig="/file/target")


@pytest.mark.parametrize(
    ("target", "environment", "expected"),
    [
        pytest.param(None, {}, ("/file/source", None), id="the file's"),
        pytest.param(None, {"KUBECONFIG": "/env/source"}, ("/env/source", None), id="the environment's source"),
        pytest.param(
            None, {"TARGET_KUBECONFIG": "/env/target"}, ("/file/source", None), id="no target that could have one"
        ),
        pytest.param(
            TARGET, {"TARGET_KUBECONFIG": "/env/target"}, ("/file/source", "/env/target"), id="the environment's target"
        ),
        pytest.param(TARGET, {"KUBECONFIG": "/env/source"}, ("/env/source", "/file/target"), id="the file's target"),
        pytest.param(
            TARGET, {"KUBECONFIG": "", "TARGET_KUBECONFIG": ""}, ("/file/source", "/file/target"), id="empty is unset"
        ),
    ],
)
def test_kubeconfigs_of_the_environment_replace_those_of_the_file(
    target: ClientConnection | None, environment: dict[str, str], expected: tuple[str, str | None]
) -> None:
    stated = ProcessSettings(source=SOURCE, target=target, server=Server(), leader_election=LeaderElection())

    settings = stated.with_kubeconfigs(environment)

    assert (settings.source.kubeconfig, settings.target and settings.target.kubeconfig) == expected
