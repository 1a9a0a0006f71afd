"""A replay finds what has changed; a shadow run says what it does not show; an outline tells no values."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from hedgerow.api.kubernetes import CONFIG_MAPS, SECRETS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Create, Delete, Event, InOrder, JsonPatch, MergePatch, Plan, Update, WriteResult
from hedgerow.machinery.questions import ObjectQuestion
from hedgerow.machinery.recording.codec import Unreadable
from hedgerow.machinery.recording.journal import Journal, LiveTurn, Lookup, Part, Unrecorded, WriteReply
from hedgerow.machinery.recording.playback import Difference, Replay, ShadowRuns, outline
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import AtOnce, Step

KEY = ObjectKey("shop", "cart")
TILL = ObjectKey("shop", "till")
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
OBJECT = {"metadata": {"namespace": "shop", "name": "cart"}}
WRITE = Create(CONFIG_MAPS, OBJECT, "missing")
READ = Lookup("get", CONFIG_MAPS, Cluster.TARGET, KEY)


def by(decide: Callable[[Snapshot, Context[None]], Any]) -> Controller[None]:
    return Controller("test", CONFIG_MAPS, (), 1, None, lambda _key, snapshot, context: decide(snapshot, context))


def deciding(plan: Plan) -> Replay:
    return Replay({"test": by(lambda _snapshot, _context: plan)})


def turn(*parts: Part, **members: Any) -> Journal:
    return replace(Journal("test", KEY, BEGAN, parts=parts), **members)


def planned(plan: Plan) -> Journal:
    return turn(Part(wants=plan))


class TestOutline:
    def test_each_action_is_a_line_without_values(self) -> None:
        plan = Plan(
            (
                WRITE,
                Update(SECRETS, OBJECT, "differs", dry_run=True),
                Update(SECRETS, OBJECT, "differs"),
                MergePatch(CONFIG_MAPS, KEY, {"data": {"a": "b"}}, "status", subresource="status"),
                JsonPatch(CONFIG_MAPS, KEY, [{"op": "test"}], "released", cluster=Cluster.SOURCE),
                Delete(SECRETS, TILL, "gone"),
            )
        )

        assert outline(plan) == [
            "create ConfigMap shop/cart (missing)",
            "dry-run update of Secret shop/cart (differs)",
            "update Secret shop/cart (differs)",
            "patch ConfigMap/status shop/cart (status)",
            "patch ConfigMap shop/cart in the source cluster (released)",
            "delete Secret shop/till (gone)",
        ]

    def test_events_failures_and_the_next_turn_follow(self) -> None:
        plan = Plan(
            events=(Event(SECRETS, KEY, "u", "Warning", "Late", "a note"),),
            failures=(
                Failure(SECRETS, KEY, Problem("spec.a", "a text")),
                Failure(SECRETS, TILL, Problem("", "a text")),
            ),
            requeue_after=90.0,
        )

        assert outline(plan) == [
            "Warning event Late about Secret shop/cart",
            "failure: Secret shop/cart: spec.a",
            "failure: Secret shop/till",
            "again in 90 s",
        ]

    def test_a_step_is_its_actions_or_what_it_awaits(self) -> None:
        assert outline(InOrder((WRITE, Delete(SECRETS, TILL, "gone")))) == [
            "create ConfigMap shop/cart (missing)",
            "delete Secret shop/till (gone)",
        ]
        assert outline(ObjectQuestion(SECRETS, KEY, Cluster.TARGET)) == ["awaits ObjectQuestion"]
        assert outline(Plan()) == []


class TestReplay:
    def test_the_same_decision_is_no_difference(self) -> None:
        plan = Plan((WRITE,), requeue_after=5)
        replay = deciding(replace(plan, state="state"))

        assert replay.repeat(planned(plan)) is None
        assert (replay.repeated, replay.skipped) == (1, 0)

    def test_the_order_of_independent_actions_and_of_events_does_not_count(self) -> None:
        actions = (WRITE, Delete(SECRETS, TILL, "gone"))
        events = tuple(Event(SECRETS, KEY, None, "Normal", reason, "") for reason in ("A", "B"))
        recorded, turned = Plan(actions, events), Plan(actions[::-1], events[::-1])

        assert deciding(turned).repeat(planned(recorded)) is None
        found = deciding(replace(turned, in_order=True)).repeat(planned(replace(recorded, in_order=True)))
        assert found is not None
        assert found.summary == "has another plan"

    def test_another_plan_is_shown_line_by_line(self) -> None:
        journal = planned(Plan(requeue_after=5))

        found = deciding(Plan(requeue_after=6)).repeat(journal)

        assert found == Difference(
            journal,
            "has another plan",
            [
                "--- recorded",
                "+++ repeated",
                "@@ -1,4 +1,4 @@",
                " {",
                '   "$": "plan"',
                '-  "requeue_after": 5',
                '+  "requeue_after": 6',
                " }",
            ],
            part=1,
        )

    def test_the_first_difference_counts_with_the_part_in_which_it_is(self) -> None:
        async def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
            await WRITE
            await Delete(SECRETS, TILL, "otherwise")
            return Plan(requeue_after=1)

        journal = turn(
            Part(wants=WRITE, reply=WriteReply(OBJECT, None)),
            Part(wants=Delete(SECRETS, KEY, "gone"), reply=WriteReply(None, None)),
            Part(wants=Plan()),
        )

        found = Replay({"test": by(decide)}).repeat(journal)

        assert found is not None
        assert (found.summary, found.part) == ("has another step", 2)

    def test_a_controller_that_does_not_run_is_told(self) -> None:
        journal = planned(Plan())

        assert Replay({}).repeat(journal) == Difference(
            journal, "no controller of this name runs with that configuration"
        )

    def test_what_was_not_read_then_is_told(self) -> None:
        def decide(snapshot: Snapshot, _context: Context[None]) -> Plan:
            snapshot.get(CONFIG_MAPS, KEY)
            return Plan()

        journal = planned(Plan())

        assert Replay({"test": by(decide)}).repeat(journal) == Difference(
            journal, "asks for ConfigMap shop/cart, which was not read then", part=1
        )

    def test_a_decision_that_raises_now_is_told_unless_it_raised_the_same_then(self) -> None:
        def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
            raise OSError("no disk")

        raised, journal = turn(Part(), raised="OSError"), planned(Plan())

        assert Replay({"test": by(decide)}).repeat(raised) is None
        assert Replay({"test": by(decide)}).repeat(journal) == Difference(journal, "raises OSError: no disk", part=1)
        other = turn(Part(), raised="KeyError")
        assert Replay({"test": by(decide)}).repeat(other) == Difference(other, "raises OSError: no disk", part=1)

    def test_a_decision_that_raised_then_is_shown_as_a_whole(self) -> None:
        journal = turn(Part(), raised="KeyError")

        assert deciding(Plan()).repeat(journal) == Difference(
            journal,
            "has a plan and raised KeyError then",
            ["--- recorded", "+++ repeated", "@@ -0,0 +1,3 @@", "+{", '+  "$": "plan"', "+}"],
            part=1,
        )

    def test_what_depends_on_a_state_that_is_not_known_is_skipped(self) -> None:
        replay = deciding(Plan())

        assert replay.repeat(turn(Part(wants=Plan()), has_state=True)) is None
        assert replay.repeat(Unrecorded("test", KEY, 1, "a problem")) is None
        assert (replay.repeated, replay.skipped) == (0, 2)

    def test_a_turn_gets_the_state_of_the_one_before_until_a_line_is_missing(self) -> None:
        states: list[object] = []

        def decide(_snapshot: Snapshot, context: Context[None]) -> Plan:
            states.append(context.state)
            return Plan(state=f"after {len(states)}")

        replay = Replay({"test": by(decide)})
        unreadable = Unreadable("test", KEY, 3, "holds what nobody knows")
        follows = turn(Part(wants=Plan()), has_state=True)

        assert replay.repeat(planned(Plan())) is None
        assert replay.repeat(follows) is None
        assert replay.repeat(unreadable) == Difference(unreadable, "holds what nobody knows")
        assert replay.repeat(follows) is None
        assert states == [None, "after 1"]
        assert (replay.repeated, replay.skipped) == (2, 1)

    def test_replies_to_several_steps_at_once_have_their_order_and_end_with_the_first_error(self) -> None:
        told: list[Any] = []
        writes = (WRITE, Delete(SECRETS, TILL, "gone"))

        async def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
            told.append(await AtOnce(writes))
            told.append(await InOrder(writes))
            return Plan()

        journal = turn(
            Part(wants=AtOnce(writes), reply=(WriteReply(OBJECT, None), WriteReply(None, None))),
            Part(wants=InOrder(writes), reply=(WriteReply(OBJECT, None),)),
            Part(wants=Plan()),
        )

        assert Replay({"test": by(decide)}).repeat(journal) is None
        assert told == [
            (WriteResult(writes[0], OBJECT), WriteResult(writes[1])),
            (WriteResult(writes[0], OBJECT),),
        ]


class Hiding:
    """Redacts the whole value of each read."""

    def redacted(self, parts: Sequence[Part]) -> Sequence[Part]:
        return [replace(part, reads=dict.fromkeys(part.reads, "hidden")) for part in parts]


class TestShadowRuns:
    def run(self, decide: Callable[[Snapshot, Context[None]], Any], *parts: Part, **members: Any) -> Journal:
        live = LiveTurn(by(decide), None, turn(*parts, **members), has_moved=False)
        return ShadowRuns(Hiding()).recordable(live)

    def test_a_decision_that_writes_what_it_read_is_shown_with_what_it_was_shown(self) -> None:
        def decide(snapshot: Snapshot, _context: Context[None]) -> Plan:
            return Plan((MergePatch(CONFIG_MAPS, KEY, {"data": snapshot.get(CONFIG_MAPS, KEY)}, "copied"),))

        patch = MergePatch(CONFIG_MAPS, KEY, {"data": "secret"}, "copied")
        shown = self.run(decide, Part({READ: "secret"}, wants=Plan((patch,))))

        assert shown == turn(Part({READ: "hidden"}, wants=Plan((replace(patch, patch={"data": "hidden"}),))))

    def test_a_decision_that_depends_on_the_value_says_what_the_process_did(self) -> None:
        def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
            return Plan(requeue_after=2)

        shown = self.run(decide, Part({READ: "secret"}, wants=Plan(requeue_after=1)))

        assert (shown.acted, outline(shown.end)) == (("again in 1 s",), ["again in 2 s"])

    @pytest.mark.parametrize("step", [Delete(SECRETS, KEY, "gone"), WRITE], ids=["other outline", "other object"])
    def test_a_step_that_has_another_reply_ends_the_shadow_run(self, step: Step[Any]) -> None:
        async def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
            await replace(WRITE, cluster=Cluster.SOURCE)
            return Plan()

        shown = self.run(decide, Part({READ: "secret"}, wants=step, reply=WriteReply(OBJECT, None)), Part(wants=Plan()))

        assert shown.parts == (Part({READ: "hidden"}, wants=replace(WRITE, cluster=Cluster.SOURCE)),)
        assert shown.acted == tuple(outline(step))

    def test_a_defect_that_the_shown_values_bring_is_shown_instead_of_the_end(self) -> None:
        def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
            raise KeyError("hidden")

        shown = self.run(decide, Part({READ: "secret"}, wants=Plan()))

        assert (shown.raised, shown.acted, shown.parts) == ("KeyError", (), (Part({READ: "hidden"}),))

    def test_a_defect_that_only_the_process_had_is_not_shown_as_one(self) -> None:
        def decide(_snapshot: Snapshot, _context: Context[None]) -> Plan:
            return Plan()

        shown = self.run(decide, Part({READ: "secret"}), raised="KeyError")

        assert (shown.raised, shown.acted, shown.end) == ("", ("raised",), Plan())
