"""Minutes of random changes against a real API server: the process holds as much at the end as near the beginning.

`HEDGEROW_CHURN_CHANGES` says how many.
"""

import http.client
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

import pytest

from tests.control_plane import PATIENCE, wait_until
from tests.e2e.landscapes import simulated
from tests.e2e.resource_manager import ResourceManager
from tests.e2e.sandbox import LABEL, Manifest, N, Sandbox, path_of, service
from tests.e2e.vital_signs import open_files, resident_kib, threads

CHANGES: Final = int(os.environ.get("HEDGEROW_CHURN_CHANGES", "1500"))
CHANGES_PER_SECOND: Final = 120.0
"""At most; a busy machine needs more time."""
CHANGES_PER_SAMPLE: Final = 10
WARM_UP: Final = 0.2
"""The share of the changes in which caches fill and the interpreter takes what it needs."""
TOLERATED_KIB: Final = 6 * 1024
"""What was written is remembered for ten minutes, in some 3 MB, which fill in the course of the test; and some pages
stay with the allocator. A leak of eight kilobytes for each change shows all the same."""
TOLERATED_FILES: Final = 5
"""Connections come and go."""
NAMESPACES: Final = 6
SERVICES: Final = 8
"""At most, in a namespace."""
PORTS: Final = range(8000, 8003)
"""Few, and new namespaces are rare, so that names recur: what was written is remembered for ten minutes, by name."""
FOREIGN_EDITS: Final = 4
"""Of one policy, at most: more of them would be a conflict, in which the process holds back for minutes."""


class Sample(NamedTuple):
    kib: int
    files: int
    threads: int


class Churn:
    """Changes things at random; every name comes back again and again but those of namespaces."""

    def __init__(self, sandbox: Sandbox, chance: random.Random) -> None:
        self._sandbox = sandbox
        self._chance = chance
        self._made = 0
        self._edits: Counter[str] = Counter()
        self.alive: list[str] = []
        self.doomed: list[str] = []
        for _ in range(NAMESPACES):
            self._create_namespace()

    def change(self) -> None:
        """One change of any kind; one that comes too late, or twice, is none."""
        kinds: dict[Callable[[], None], int] = {
            self._put_service: 160,
            self._delete_service: 80,
            self._edit_policy: 60,
            self._delete_policy: 40,
            self._relabel_namespace: 40,
            self._replace_namespace: 1,
        }
        (kind,) = self._chance.choices(list(kinds), list(kinds.values()))
        kind()

    def _put_service(self) -> None:
        ports = self._chance.sample(PORTS, k=self._chance.randint(1, 2))
        selectors = f'[{{"matchLabels": {{"team": "{self._team()}", "{LABEL}": "{self._sandbox.prefix}"}}}}]'
        manifest = service(
            self._namespace(),
            f"s{self._chance.randrange(SERVICES)}",
            *({"name": f"p{port}", "port": port, "targetPort": port, "protocol": "TCP"} for port in ports),
            annotations={"namespace-selectors": selectors} if self._chance.random() < 0.5 else None,
        )
        if self._request("POST", "Service", manifest["metadata"]["namespace"], body=manifest) == 409:
            name = manifest["metadata"]["name"]
            self._request("PATCH", "Service", manifest["metadata"]["namespace"], name, body=_replacing(manifest))

    def _delete_service(self) -> None:
        self._request("DELETE", "Service", self._namespace(), f"s{self._chance.randrange(SERVICES)}")

    def _edit_policy(self) -> None:
        for namespace, name in self._any_policy():
            edit = {"spec": {"podSelector": {"matchLabels": {"edited": str(self._chance.randrange(1000))}}}}
            self._request("PATCH", "NetworkPolicy", namespace, name, body=edit)

    def _delete_policy(self) -> None:
        for namespace, name in self._any_policy():
            self._request("DELETE", "NetworkPolicy", namespace, name)

    def _any_policy(self) -> Iterator[tuple[str, str]]:
        namespace = self._namespace()
        _, answer = self._sandbox.control_plane.request("GET", path_of("NetworkPolicy", namespace))
        names = [f"{namespace}/{item['metadata']['name']}" for item in answer["items"]]
        if names := [name for name in names if self._edits[name] < FOREIGN_EDITS]:
            chosen = self._chance.choice(names)
            self._edits[chosen] += 1
            yield namespace, chosen.partition("/")[2]

    def _relabel_namespace(self) -> None:
        labels = {"metadata": {"labels": {"team": self._team()}}}
        self._request("PATCH", "Namespace", "", self._namespace(), body=labels)

    def _replace_namespace(self) -> None:
        gone = self.alive.pop(self._chance.randrange(len(self.alive)))
        self.doomed.append(gone)
        self._request("DELETE", "Namespace", "", gone)
        self._create_namespace()

    def _create_namespace(self) -> None:
        self._made += 1
        self.alive.append(self._sandbox.namespace(f"n{self._made}", team=self._team()))

    def _namespace(self) -> str:
        return self._chance.choice(self.alive)

    def _team(self) -> str:
        return self._chance.choice(["red", "green", "blue"])

    def _request(self, method: str, kind: str, namespace: str, name: str = "", body: Manifest | None = None) -> int:
        status, answer = self._sandbox.control_plane.request(method, path_of(kind, namespace, name), body)
        assert status < 300 or status in {404, 409}, answer
        return status


def _replacing(manifest: Manifest) -> Manifest:
    """A merge patch that makes a Service like another, annotations that it has not included."""
    none = dict.fromkeys([f"{N}/namespace-selectors"])
    return {"metadata": {"annotations": {**none, **manifest["metadata"]["annotations"]}}, "spec": manifest["spec"]}


@pytest.mark.slow
def test_minutes_of_churn_leave_no_trace(sandbox: Sandbox, controller_manager: None) -> None:
    seed = random.randrange(2**32)  # noqa: S311 -- shown where the test fails
    print(f"{seed=}")  # noqa: T201 -- as above
    churn = Churn(sandbox, random.Random(seed))  # noqa: S311 -- changes, no secrets
    with ResourceManager(sandbox.folder, sandbox.configuration()) as process:
        process.wait_ready()
        samples = list(sampled(process, churn))
        for namespace in churn.doomed:
            gone = partial(is_gone, sandbox, namespace)
            process.wait_for(gone, f"namespace {namespace} stays")
        expected = simulated(sandbox, world(sandbox, churn.alive), process.config_file)
        sandbox.wait_for_policies(expected)
        wait_until(
            lambda: sandbox.policies() == expected,
            timeout=PATIENCE,
            otherwise=lambda: AssertionError("an edited policy has not been corrected"),
        )

    early, late = thirds(samples)
    print(f"{early=} {late=}")  # noqa: T201 -- as above
    assert late.kib <= early.kib + TOLERATED_KIB
    assert late.files <= early.files + TOLERATED_FILES
    assert late.threads <= early.threads


def is_gone(sandbox: Sandbox, namespace: str) -> bool:
    return sandbox.control_plane.request("GET", path_of("Namespace", "", namespace))[0] == http.client.NOT_FOUND


def sampled(process: ResourceManager, churn: Churn) -> Iterator[Sample]:
    """What the process holds now and then while things change."""
    began = time.monotonic()
    for changes in range(CHANGES):
        process.require_running()
        if changes % CHANGES_PER_SAMPLE == 0:
            yield Sample(resident_kib(process), open_files(process), threads(process))
        churn.change()
        time.sleep(max(0.0, began + (changes + 1) / CHANGES_PER_SECOND - time.monotonic()))


def thirds(samples: list[Sample]) -> tuple[Sample, Sample]:
    """The most of everything in the first and in the last third, the warm-up left out."""
    warm = samples[int(len(samples) * WARM_UP) :]
    third = len(warm) // 3
    return most(warm[:third]), most(warm[-third:])


def most(samples: list[Sample]) -> Sample:
    return Sample(*(max(column) for column in zip(*samples, strict=True)))


def world(sandbox: Sandbox, namespaces: list[str]) -> list[Manifest]:
    """What the policies follow from, as the API server has it."""
    manifests = [{"apiVersion": "v1", "kind": "Namespace", **sandbox.get("Namespace", "", name)} for name in namespaces]
    services = sandbox.objects("Service").values()
    return [*manifests, *({"apiVersion": "v1", "kind": "Service", **each} for each in services)]
