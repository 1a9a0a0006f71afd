"""Controllers at work in an in-memory cluster, one turn after another, and the record of what they decide."""

import base64
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hedgerow.api.gardener import MACHINES
from hedgerow.api.kubernetes import CRON_JOBS
from hedgerow.api.managed_resources import ClassFilter
from hedgerow.api.registrations import CONTROLLER_DEPLOYMENTS
from hedgerow.machinery.charts import RenderChart, RenderedChart
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller, all_keys
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.recording.codec import Header
from hedgerow.machinery.recording.journal import Journal
from hedgerow.machinery.recording.playback import Difference, Redaction, Replay
from hedgerow.resource_manager.garbage_collection.controller import GarbageCollectorConfig, garbage_collector
from hedgerow.resource_manager.health.controller import HealthConfig, health_controller, progressing_controller
from hedgerow.resource_manager.managed_resources.controller import managed_resource_controller
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig
from hedgerow.resource_manager.managed_resources.secret_finalizers import secret_controller
from hedgerow.resource_manager.network_policies import NetworkPolicyConfig, network_policy_controller
from hedgerow.resource_manager.secret_redaction import Compression, Fingerprints, SecretRedaction
from hedgerow.resource_manager.token_requests import token_requestor
from hedgerow_adapters.compression import brotli_compressed, brotli_decompressed
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.memory.clock import SettableClock
from hedgerow_adapters.memory.kinds import Kind as Served
from hedgerow_adapters.memory.shapes import anything
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.recording import Recorder, RecordFile, record_lines
from tests.executions import executed, no_chart, performed
from tests.in_memory import InMemory, snapshot_of
from tests.unit.core.resource_manager.managed_resources.harness import new_cluster

HEADER: Final = Header("1.2.3", "resource-manager", "", {})
COMPRESSION: Final = Compression(brotli_decompressed, brotli_compressed)


def controllers() -> list[Controller[Any]]:
    """Those that read, or are told, what Secrets hold, and one that does not."""
    return [
        managed_resource_controller(ManagedResourceConfig(decompress=brotli_decompressed)),
        secret_controller(ClassFilter()),
        health_controller(HealthConfig()),
        progressing_controller(HealthConfig()),
        token_requestor(),
        garbage_collector(GarbageCollectorConfig()),
        network_policy_controller(NetworkPolicyConfig()),
    ]


def redaction(key: bytes = b"key") -> SecretRedaction:
    return SecretRedaction(Fingerprints(key), COMPRESSION)


@dataclass
class Session:
    """A process that records."""

    path: Path
    controllers: Sequence[Controller[Any]] = field(default_factory=controllers)
    clock: SettableClock = field(default_factory=SettableClock)
    problems: list[str] = field(default_factory=list)
    redaction: Redaction = field(default_factory=redaction)
    render: Callable[[RenderChart], RenderedChart] = no_chart

    def __post_init__(self) -> None:
        deployments = Served(CONTROLLER_DEPLOYMENTS, fields={"type": anything, "providerConfig": anything})
        self.cluster: InMemoryCluster = new_cluster(self.clock, Served(CRON_JOBS), Served(MACHINES), deployments)
        self.put(*(_namespace(name) for name in ("shop", "bar", "accounts")))
        self._states: dict[tuple[str, ObjectKey], object] = {}
        self._file = RecordFile(self.path, self.problems.append)
        self.recorder = Recorder(self._file, HEADER, self.redaction, self.problems.append)

    def put(self, *manifests: Manifest) -> None:
        """Create objects, or write them over what is there."""
        for manifest in manifests:
            resource, key, new = self._resource(manifest), key_of(manifest), _as_new(manifest)
            live = self.cluster.get(resource, key)
            if live is None:
                response = self.cluster.handle(requests.create(resource, new, key.namespace))
            else:
                metadata = {**live["metadata"], **new["metadata"]}
                response = self.cluster.handle(requests.update(resource, key, {**new, "metadata": metadata}))
            assert response.is_success, response.body

    def work(self, rounds: int = 1) -> None:
        """Every key of every controller gets a turn, so many times."""
        for _ in range(rounds):
            for controller in self.controllers:
                _, snapshot = snapshot_of(dict.fromkeys(Cluster, self.cluster), controller)
                for key in all_keys(controller, snapshot):
                    self.turn(controller, key)

    def turn(self, controller: Controller[Any], key: ObjectKey) -> None:
        """One turn of a key, carried out to its end."""
        clusters = dict.fromkeys(Cluster, self.cluster)
        surroundings = InMemory(clusters)
        following, snapshot = snapshot_of(clusters, controller)
        place = (controller.name, key)
        context = Context(self.clock(), following.config, state=self._states.get(place), jitter=0.5)
        decision = self.recorder.decide(following, key, snapshot, context)
        plan, _ = executed(decision, lambda step: performed(step, surroundings, self.clock, render=self.render))
        for action in plan.actions:
            if surroundings.carry_out(action).error and plan.in_order:
                break
        self._states[place] = plan.state

    def end(self) -> str:
        """What the record holds once the process has ended."""
        self._file.close()
        return self.path.read_text(encoding="utf-8")

    def _resource(self, manifest: Manifest) -> Resource:
        found = self.cluster.resource_of(Kind.of(manifest))
        assert found is not None, manifest
        return found


def _as_new(manifest: Manifest) -> Manifest:
    """A manifest as a server takes it: other tests use it as one that is stored."""
    given = {name: value for name, value in manifest["metadata"].items() if name not in {"uid", "resourceVersion"}}
    return {**manifest, "metadata": given}


def _namespace(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


@dataclass(frozen=True)
class Repeated:
    """What came of the repetition of a record."""

    decisions: Sequence[Journal]
    differences: Sequence[Difference]
    skipped: int


def repeated(path: Path, by: Iterable[Controller[Any]] | None = None) -> Repeated:
    """A record, repeated."""
    replay = Replay({each.name: each for each in by or controllers()})
    decisions, differences = [], []
    for _, line in record_lines(path):
        if line is None or isinstance(line, Header):
            continue
        if isinstance(line, Journal):
            decisions.append(line)
        difference = replay.repeat(line)
        if difference is not None:
            differences.append(difference)
    return Repeated(decisions, differences, replay.skipped)


def encoded(text: str | bytes) -> str:
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


def documents(*manifests: Mapping[str, Any]) -> str:
    """Manifests as they stand in a Secret."""
    return "".join(f"---\n{json.dumps(each)}\n" for each in manifests)
