"""A process that is killed at six points while it applies a landscape leaves no object out, makes none twice."""

import signal
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.control_plane import ControlPlane
from tests.e2e.gateways import Asked, Gateway, Reply
from tests.e2e.managed_resources.landscape import OBJECTS, landscape
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.sandbox import SETTLED, ManagedResourceSandbox
from tests.e2e.resource_manager import errors_of

POINTS: Final = 6
"""The first life ends at its first write, the second at its second: together before everything is applied."""
COUNT: Final = 10
_READS: Final = frozenset({"GET", "HEAD"})


class LethalGateway(Gateway):
    """Kills who asks at its so many-th write: before that reached the API server, or after.

    Writes go on one at a time, and only those of the one who lives now.
    """

    def __init__(self, control_plane: ControlPlane, token: str) -> None:
        super().__init__(control_plane, token)
        self._alive = ""
        self._kill: Callable[[], None] = lambda: None
        self._left = 0
        self._commits = False

    def let_live(self, name: str, kill: Callable[[], None], *, writes: int, commits: bool) -> None:
        """Have who shows this name killed at the so many-th write, which is done or not; never if that is negative."""
        with self.lock:
            self._alive, self._kill, self._left, self._commits = name, kill, writes, commits

    def answer(self, asked: Asked) -> Reply | None:
        """The API server's answer, but none to the last write and to those of the dead."""
        if asked.method in _READS:
            return self.hand_on(asked)
        with self.lock:
            if asked.authorization != f"Bearer {self._alive}" or self._left == 0:
                return None
            self._left -= 1
            if self._left != 0:
                return self.hand_on(asked)
            if self._commits:
                self.hand_on(asked)
            self._kill()
            return None


@pytest.fixture
def gateway(sandbox: ManagedResourceSandbox) -> LethalGateway:
    return LethalGateway(sandbox.control_plane, _document(sandbox.kubeconfig)["users"][0]["user"]["token"])


def process_behind(gateway: LethalGateway, sandbox: ManagedResourceSandbox, name: str) -> Manager:
    """A process that knows its API server by the gateway alone, and shows its own name there."""
    document = _document(sandbox.kubeconfig)
    document["clusters"][0]["cluster"] = {"server": gateway.url}
    document["users"][0]["user"] = {"token": name}
    kubeconfig = sandbox.folder / f"{name}.kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(document), encoding="utf-8")
    config = {**sandbox.configuration(), "sourceClientConnection": {"kubeconfig": str(kubeconfig)}}
    return Manager(sandbox.folder, config, name=name)


@pytest.mark.slow
def test_six_crashes_cost_no_object_and_make_none_twice(
    sandbox: ManagedResourceSandbox, gateway: LethalGateway
) -> None:
    deliveries = [*landscape(COUNT, sandbox.namespace, class_name=sandbox.class_name)]
    sandbox.create(*(part for each in deliveries for part in (each.secret, each.managed_resource)))
    position = sandbox.control_plane.audit_position()

    with gateway:
        for point in range(POINTS):
            with process_behind(gateway, sandbox, f"victim-{point}") as victim:
                end = partial(victim.send_signal, signal.SIGKILL)
                gateway.let_live(victim.name, end, writes=point + 1, commits=point % 2 == 0)
                assert victim.wait() == -signal.SIGKILL
        survivor = process_behind(gateway, sandbox, "survivor")
        gateway.let_live(survivor.name, lambda: None, writes=-1, commits=True)
        with survivor:
            sandbox.wait_until_applied(expected=SETTLED)
            survivor.wait_until_idle()
            assert survivor.terminate() == 0

    assert errors_of(survivor.log_lines()) == []
    creations = Counter(sandbox.writes(position, verb="create", stored=True))
    assert [write for write, times in creations.items() if times > 1] == []
    assert len(creations) == COUNT * OBJECTS
    assert sandbox.writes(position, verb="delete") == []


def _document(kubeconfig: Path) -> dict[str, list[dict[str, dict[str, str]]]]:
    document: dict[str, list[dict[str, dict[str, str]]]] = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    return document
