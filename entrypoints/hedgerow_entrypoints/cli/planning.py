"""The plans of controllers as commands show them: one entry for each object, and what is wrong with it all."""

from collections.abc import Iterable
from datetime import datetime

from hedgerow.machinery.controller import all_keys, owned_objects, primary_object
from hedgerow.machinery.deletion_guard import Verdict, judge_deletions
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import is_terminating
from hedgerow.machinery.plan import Action, Delete, only_asks
from hedgerow.machinery.questions import ObjectQuestion
from hedgerow_adapters.simulation import CrashedTurnError, Planner, SentAction, SimulationError, Worlds, planning
from hedgerow_entrypoints.cli.controllers import Chosen
from hedgerow_entrypoints.cli.rendering import Planned
from hedgerow_entrypoints.components.registry import Remarks
from hedgerow_entrypoints.errors import CommandError, note


def planned_in(work: Iterable[tuple[Chosen, Worlds]], now: datetime) -> tuple[list[Planned], list[Failure]]:
    """What controllers would do at a time, each in its clusters, in order, and what they could not plan."""
    planned: list[Planned] = []
    failures: list[Failure] = []
    try:
        for (controller, remarks), worlds in work:
            with planning(controller, worlds, now) as planner:
                for remark in (*planner.notes(), *remarks.notes(controller, planner.snapshot)):
                    note(f"note: {remark}")
                more, failed = _planned_by(planner, remarks)
            planned += more
            failures += failed
    except SimulationError as error:
        raise CommandError(str(error)) from error
    return planned, failures


def _planned_by(planner: Planner, remarks: Remarks) -> tuple[list[Planned], list[Failure]]:
    controller, snapshot = planner.controller, planner.snapshot
    planned: list[Planned] = []
    failures: list[Failure] = []
    owners: dict[ObjectQuestion, list[str]] = {}
    owned, deletions = len(owned_objects(controller, snapshot)), 0
    for key in all_keys(controller, snapshot):
        owner = primary_object(controller, snapshot, key)
        try:
            steps, failed = planner.plan(key)
        except CrashedTurnError as crash:
            failures.append(Failure(controller.primary, key, Problem("", str(crash))))
            continue
        planned += _net(controller.name, steps)
        if owner is None or not is_terminating(owner):
            deletions += sum(isinstance(step.action, Delete) for step in steps)
        if (corrected := primary_object(controller, snapshot, key)) is not None:
            failed = failed or tuple(remarks.failures(controller, corrected))
        failures += failed
        for subject in dict.fromkeys(_subject(step.action) for step in steps if not only_asks(step.action)):
            owners.setdefault(subject, []).append(f"{controller.primary.kind} {key}")
    # Controllers may each look after a part of an object, but of the owners within one only one can have it.
    for subject, names in owners.items():
        if len(names) > 1:
            problem = f"is planned for by {', '.join(names[:-1])} and {names[-1]}, of which only one can have it"
            failures.append(Failure(subject.resource, subject.key, Problem("", problem)))
    if controller.owned is not None:
        _warn_of_mass_deletion(controller.name, owned, deletions)
    return planned, failures


def _net(controller: str, steps: Iterable[SentAction]) -> Iterable[Planned]:
    """What steps come to: a creation or change, and changes of the object that follow, are one, at the last's place."""
    planned: dict[int, Planned] = {}
    last: dict[ObjectQuestion, int] = {}
    for number, step in enumerate(steps):
        each, subject = Planned.of(controller, step.action, step.before), _subject(step.action)
        if only_asks(step.action):
            planned[number] = each
            continue
        earlier = last.get(subject)
        if earlier is not None and not step.is_change:
            continue
        if earlier is not None and each.verb == "change" and planned[earlier].verb != "delete":
            each = planned.pop(earlier).then(each)
        planned[number], last[subject] = each, number
    return planned.values()


def _subject(action: Action) -> ObjectQuestion:
    """The object that an action concerns."""
    return ObjectQuestion(action.resource, action.key, action.cluster)


def _warn_of_mass_deletion(name: str, owned: int, deletions: int) -> None:
    """Say what a controller would do that starts in this world, and has seen none of its owners go or change."""
    if judge_deletions(deletions, owned, confirmed=True) is Verdict.STOP:
        consequence = "one that starts here refuses to delete so many"
    elif judge_deletions(deletions, owned, confirmed=False) is Verdict.CONFIRM:
        consequence = "one that starts here wants a second, fresh list first"
    else:
        return
    note(f"warning: {name} would delete {deletions} of the {owned} objects that it owns; {consequence}")
