"""A process that makes its own certificates: what it is told, and the controller that it runs for that.

The controller runs in every replica, whoever leads, from before caches are complete until the last review is answered.
"""

import asyncio
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Final

from returns.result import Failure

from hedgerow.admission.provisioning import (
    REGISTRATIONS,
    Lifetimes,
    ProvisioningConfig,
    provisioning_controller,
    server_names,
)
from hedgerow.machinery.configuration.process import SelfProvision
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, key_of
from hedgerow.machinery.reading import UnreadableError
from hedgerow_adapters.admission.provisioned import ProvisionedCertificate, provisioning_steps
from hedgerow_adapters.admission.validity import CertificateObserver
from hedgerow_adapters.files.loading import load_manifests
from hedgerow_adapters.runtime.caches import Caches
from hedgerow_adapters.runtime.events import EventRecorder
from hedgerow_adapters.runtime.runner import ControllerRunner
from hedgerow_adapters.telemetry.controller import ControllerTelemetry
from hedgerow_adapters.telemetry.logs import get_logger
from hedgerow_adapters.telemetry.messages import Message
from hedgerow_adapters.telemetry.metrics import RuntimeMetrics
from hedgerow_entrypoints.errors import CommandError

FILE_FIELD: Final = "server.webhooks.tls.self.registrations"


class Provisioning:
    """The certificates of one process."""

    def __init__(
        self, section: SelfProvision, observer: CertificateObserver, *, client_authorities: Path | None
    ) -> None:
        """No certificate yet; raises CommandError or CertificateError where a file is of no use."""
        self._controller = provisioning_controller(provisioning_config(section))
        self.certificate: Final = ProvisionedCertificate(observer, client_authorities=client_authorities)
        self._tasks: tuple[asyncio.Task[None], ...] = ()

    def start(self, caches: Caches, metrics: RuntimeMetrics, *, leads: Callable[[], bool], instance: str) -> None:
        """Provide for certificates from now on; `leads` tells whether this replica does."""
        log = get_logger(self._controller.name)
        recorder = EventRecorder(
            caches.clusters.target.urgent,
            source=caches.clusters.source.urgent,
            component=self._controller.name,
            instance=instance,
            may_write=lambda: True,
            on_refusal=lambda problem: log.tell(Message.EVENT_NOT_RECORDED, error=problem),
        )
        runner = ControllerRunner(
            self._controller,
            caches,
            recorder=recorder,
            observer=ControllerTelemetry(self._controller, metrics),
            perform=provisioning_steps(self.certificate, leads),
        )
        runner.start()
        self._tasks = (asyncio.create_task(runner.run()), asyncio.create_task(recorder.run()))

    async def ended(self) -> None:
        """Wait for the end, which only a defect brings; raises that."""
        await asyncio.gather(*self._tasks)

    def end(self) -> None:
        """Write nothing from now on."""
        for task in self._tasks:
            task.cancel()


def provisioning_config(section: SelfProvision) -> ProvisioningConfig:
    """The configuration of the controller; raises CommandError where the file with the registrations is of no use."""
    registrations = _registrations(section.registrations)
    try:
        names = server_names(registrations)
    except UnreadableError as error:
        raise CommandError(f"{section.registrations}: {error.problem}", field=FILE_FIELD) from error
    secret = ObjectKey(section.secret_namespace, section.secret_name)
    lifetimes = Lifetimes(section.certificate_lifetime, section.authority_lifetime)
    # Where nothing is registered nobody asks, under whatever name.
    return ProvisioningConfig(secret, names or (section.secret_name,), registrations, lifetimes)


def _registrations(path: str) -> tuple[Manifest, ...]:
    loaded = load_manifests([path], stdin=BytesIO())
    if isinstance(loaded, Failure):
        raise CommandError(*map(str, loaded.failure()), field=FILE_FIELD)
    found = loaded.unwrap()
    known = {resource.object_kind for resource in REGISTRATIONS.values()}
    for each in found:
        if Kind.of(each.manifest) not in known:
            kind, key = each.manifest["kind"], key_of(each.manifest)
            problem = f"{each.source}: {kind} {key} registers no webhooks, or in another version than v1"
            raise CommandError(problem, field=FILE_FIELD)
    return tuple(each.manifest for each in found)
