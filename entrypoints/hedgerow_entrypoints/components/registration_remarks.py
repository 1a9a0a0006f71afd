"""What offline commands say beside plans for seeds and installations.

Why each installation comes, stays or goes; which registrations are not valid; and which installations are left alone.
"""

from collections.abc import Iterator
from typing import Any, Final

from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS, CONTROLLER_REGISTRATIONS, SEEDS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.plan import Create, Delete
from hedgerow.machinery.reading import text_at
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.registration.garden import readable_text
from hedgerow.registration.installations import is_for
from hedgerow.registration.planning import plan_installations
from hedgerow.registration.seed_controller import seed_inputs
from hedgerow.registration.validation import problems_of
from hedgerow_adapters.files.sources import printable
from hedgerow_entrypoints.components.registry import Remarks

_GONE: Final = {
    "not-wanted": "nothing there needs it",
    "registration-deleted": "it is being deleted, and nothing there needs it",
    "seed-not-selected": "its seedSelector does not match the Seed",
}


def _notes(controller: Controller[Any], snapshot: Snapshot) -> Iterator[str]:
    seeds, wanted = sorted(snapshot.list(SEEDS, cluster=Cluster.SOURCE), key=key_of), set[str]()
    if not seeds:
        yield "there is no Seed"
    for seed in seeds:
        inputs = seed_inputs(seed, snapshot)
        planned = plan_installations(inputs, controller.config)
        wanted |= planned.wanted.keys()
        name = printable(key_of(seed).name)
        yield from (f"Seed {name}: {printable(event.note)}" for event in planned.events)
        installed = {key_of(each): each for each in inputs.installations}
        for action in planned.actions:
            manifest = action.manifest if isinstance(action, Create) else installed[action.key]
            registration = text_at(manifest, "spec", "registrationRef", "name") or ""
            if isinstance(action, Delete):
                does, why = "loses", _GONE[action.reason]
            else:
                does = "gets" if isinstance(action, Create) else "keeps"
                why = "; ".join(ground.sentence for ground in planned.wanted[registration])
            yield f"Seed {name} {does} {printable(registration)}: {printable(why)}"
    for manifest in sorted(snapshot.list(CONTROLLER_REGISTRATIONS, cluster=Cluster.SOURCE), key=key_of):
        # What is wrong with one that is wanted is an error.
        if (key := key_of(manifest)).name not in wanted:
            for problem in problems_of(CONTROLLER_REGISTRATIONS.kind, manifest):
                yield printable(str(Failure(CONTROLLER_REGISTRATIONS, key, problem)))


def _notes_of_installations(controller: Controller[Any], snapshot: Snapshot) -> Iterator[str]:
    seed = controller.config.seed
    installations = sorted(snapshot.list(CONTROLLER_INSTALLATIONS, cluster=Cluster.SOURCE), key=key_of)
    if not installations:
        yield "there is no ControllerInstallation"
    for each in installations:
        if not is_for(seed, each):
            other = readable_text(each, "spec", "seedRef", "name")
            yield printable(f"ControllerInstallation {key_of(each)} is for Seed {other}, planned for is {seed}")


def _failures_of_installations(controller: Controller[Any], installation: Manifest) -> Iterator[Failure]:
    if not controller.config.seed:
        name = readable_text(installation, "spec", "seedRef", "name")
        problem = Problem("spec.seedRef.name", f'Seed "{name}" does not exist')
        yield Failure(CONTROLLER_INSTALLATIONS, key_of(installation), problem)


REGISTRATION_REMARKS: Final = Remarks(_notes)
INSTALLATION_REMARKS: Final = Remarks(_notes_of_installations, _failures_of_installations)
