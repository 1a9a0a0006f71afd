"""What offline commands say beside the plan for seeds: why each of their installations comes, stays or goes."""

from collections.abc import Iterator
from typing import Any, Final

from hedgerow.api.registrations import SEEDS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import key_of
from hedgerow.machinery.plan import Create, Delete
from hedgerow.machinery.reading import text_at
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.registration.planning import plan_installations
from hedgerow.registration.seed_controller import seed_inputs
from hedgerow_adapters.files.sources import printable
from hedgerow_entrypoints.components.registry import Remarks

_GONE: Final = {
    "not-wanted": "nothing there needs it",
    "registration-deleted": "it is being deleted, and nothing there needs it",
    "seed-not-selected": "its seedSelector does not match the Seed",
}


def _notes(controller: Controller[Any], snapshot: Snapshot) -> Iterator[str]:
    for seed in sorted(snapshot.list(SEEDS, cluster=Cluster.SOURCE), key=key_of):
        inputs = seed_inputs(seed, snapshot)
        planned = plan_installations(inputs, controller.config)
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


REGISTRATION_REMARKS: Final = Remarks(_notes)
