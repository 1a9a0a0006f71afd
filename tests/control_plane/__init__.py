"""A real Kubernetes control plane on loopback, for tests and benchmarks."""

from tests.control_plane.kubectl import KubectlError
from tests.control_plane.plane import ControlPlane
from tests.control_plane.pods import PodKeeper
from tests.control_plane.processes import PATIENCE, ServerError, wait_until
from tests.control_plane.servers import ServersUnavailableError, server_binaries

__all__ = [
    "PATIENCE",
    "ControlPlane",
    "KubectlError",
    "PodKeeper",
    "ServerError",
    "ServersUnavailableError",
    "server_binaries",
    "wait_until",
]
