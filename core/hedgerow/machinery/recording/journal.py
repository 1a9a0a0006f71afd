"""Journal: the reads, steps and replies of one decision, and its end.

The journal of a live decision holds references to values that do not change. Another thread writes it down later.

A part of it ends with a step, or with the end of the decision. `Now` and `Pause` are no steps of a journal; a part
holds the times that the decision got, and the latest answers, which may change in a pause.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

from hedgerow.machinery.charts import RenderChart, RenderedFile
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import ACTIONS, ApiError, InOrder, Plan, RecordEvents, WriteResult, actions_in
from hedgerow.machinery.questions import Found
from hedgerow.machinery.selectors import LabelSelector, selector_query
from hedgerow.machinery.snapshot import Index, Snapshot, Value
from hedgerow.machinery.steps import AtOnce, Execution, Now, Pause, Step

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Lookup:
    """One question to a snapshot."""

    method: Literal["get", "has_synced", "list", "index"]
    resource: Resource
    cluster: Cluster
    what: Any = None
    """A key; namespace and selector; or an index's name and a value."""

    def __str__(self) -> str:
        which = str(self.resource)
        match self.method:
            case "get":
                which = f"{self.resource.kind} {self.what}"
            case "has_synced":
                which = f"whether {which} have synced"
            case "list":
                namespace, selector = self.what
                which = f"all {which}{f' in namespace {namespace}' if namespace is not None else ''}"
                which += f" with {selector_query(selector)}" if selector is not None else ""
            case _:
                name, value = self.what
                which = f'{which} under {value} of "{name}"'
        return which if self.cluster is Cluster.TARGET else f"{which} of the {self.cluster.value} cluster"


Reads: TypeAlias = Mapping[Lookup, Any]
"""Lookups and their answers: an object or none, whether a resource has synced, or objects."""


class NotReadError(Exception):
    """A decision looks up what it did not look up when it was recorded."""

    def __init__(self, lookup: Lookup) -> None:
        super().__init__(f"asks for {lookup}, which was not read then")


class NotedSnapshot:
    """A snapshot that answers from notes, or notes the answers of the world. What notes lack may exist all the same."""

    def __init__(self, reads: Reads, world: Snapshot | None = None) -> None:
        """Answer from these notes; or from the world, and add the answers to the notes, a dictionary."""
        self.reads = reads
        self.has_moved = False
        """True if the same lookup has had two different answers in the same notes."""
        self._world: Final = world

    def _answer(self, lookup: Lookup, ask: Callable[[Snapshot], T]) -> T:
        """The answer to a lookup; `ask` gets it from the world. NotReadError if there is none, and no note either."""
        if self._world is None:
            if lookup not in self.reads:
                raise NotReadError(lookup)
            return cast("T", self.reads[lookup])
        answer, notes = ask(self._world), cast("dict[Lookup, Any]", self.reads)
        if notes.setdefault(lookup, answer) != answer:
            notes[lookup] = answer
            self.has_moved = True
        return answer

    def get(self, resource: Resource, key: ObjectKey, cluster: Cluster = Cluster.TARGET) -> Manifest | None:
        """The object of a key."""
        return self._answer(Lookup("get", resource, cluster, key), lambda world: world.get(resource, key, cluster))

    def has_synced(self, resource: Resource, cluster: Cluster = Cluster.TARGET) -> bool:
        """True if the objects of a resource are watched and completely listed."""
        return self._answer(Lookup("has_synced", resource, cluster), lambda world: world.has_synced(resource, cluster))

    def list(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        selector: LabelSelector | None = None,
        cluster: Cluster = Cluster.TARGET,
    ) -> Sequence[Manifest]:
        """Objects by namespace and labels."""
        return self._answer(
            Lookup("list", resource, cluster, (namespace, selector)),
            lambda world: tuple(world.list(resource, namespace=namespace, selector=selector, cluster=cluster)),
        )

    def by_index(self, index: Index[Value], value: Value) -> Sequence[Manifest]:
        """Objects by index."""
        lookup = Lookup("index", index.resource, index.cluster, (index.name, value))
        return self._answer(lookup, lambda world: tuple(world.by_index(index, value)))


_BYTES: Final = 4000  # size of an object in memory, about


@dataclass(frozen=True, slots=True)
class WriteReply:
    """The result of a write without the action, which a replay yields again."""

    stored: Manifest | None
    error: ApiError | None


@dataclass(frozen=True, slots=True)
class Part:
    """What a decision read, then wanted, and the reply."""

    reads: Reads = field(default_factory=dict)
    times: tuple[datetime, ...] = ()
    """The replies to `Now`, in their order."""
    wants: Step[Any] | Plan | None = None
    """None: the decision raised."""
    reply: Any = None
    """Writes' as `WriteReply`; none for a plan, or if the decision was stopped."""


@dataclass(frozen=True, slots=True)
class Journal:
    """One decision."""

    controller: str
    key: ObjectKey
    now: datetime
    jitter: float = 0.0
    server_versions: tuple[str, ...] = ()
    has_state: bool = False
    """True if it got the state of the last turn of its key."""
    parts: tuple[Part, ...] = ()
    raised: str = ""
    """The type of the exception that ended it; empty: none did."""
    turn: int = 0
    """Counts the turns of a run, from 1."""
    acted: tuple[str, ...] | None = None
    """Of a shadow run: an outline of what the process wanted last, if that differs."""

    @property
    def weight(self) -> int:
        """Bytes that its replies and writes hold in memory, about."""
        return sum(_BYTES + _bytes_of(part.reply) + _bytes_of(part.wants) for part in self.parts)

    @property
    def end(self) -> Plan | None:
        """The plan of the decision, if any."""
        last = self.parts[-1].wants if self.parts else None
        return last if isinstance(last, Plan) else None


def _bytes_of(value: Any) -> int:
    """Size of the objects in a reply, a step or a plan; the data of Secrets and ConfigMaps count by length."""
    match value:
        case (tuple() as members) | Found(members) | RenderedFile(_, members):
            return sum(map(_bytes_of, members))
        case WriteReply(stored):
            return _bytes_of(stored)
        case RenderChart(chart):
            return len(chart)
        case Step() | Plan():
            return sum(_bytes_of(getattr(action, "manifest", None)) for action in actions_in(value))
        case Mapping():
            data = value.get("data")
            texts = data.values() if isinstance(data, Mapping) else ()
            return _BYTES + sum(len(text) for text in texts if isinstance(text, str))
        case _:
            return 0


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """A decision that could not be recorded."""

    controller: str
    key: ObjectKey
    turn: int
    problem: str


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """The journal of a live decision, and all that is needed to make the decision again."""

    controller: Controller[Any]
    state: Any
    journal: Journal
    has_moved: bool
    """True if an answer changed during a pause: the journal cannot tell when it read which."""


def noted(reply: Any) -> Any:
    """A reply without the actions that it answers."""
    if isinstance(reply, WriteResult):
        return WriteReply(reply.stored, reply.error)
    if type(reply) is tuple:
        return tuple(map(noted, reply))
    return reply


def replied(step: Step[Any], reply: Any) -> Any:
    """The reply to a step, from a `noted` one."""
    match step:
        case AtOnce(steps) | InOrder(steps):
            # What follows a refused action has no result.
            return tuple(replied(each, one) for each, one in zip(steps, reply, strict=False))
        case _ if isinstance(step, ACTIONS):
            return WriteResult(step, reply.stored, reply.error)
        case _:
            return reply


def has_same_reply(one: Step[Any] | Plan | None, other: Step[Any] | Plan | None) -> bool:
    """True if the reply to one step is a reply to the other: both ask the same, or write to the same objects."""
    match one, other:
        case (AtOnce(steps), AtOnce(others)) | (InOrder(steps), InOrder(others)):
            return len(steps) == len(others) and all(map(has_same_reply, steps, others))
        case RenderChart(), RenderChart():
            # Charts and values are not recorded.
            return replace(one, chart=b"", values={}) == replace(other, chart=b"", values={})
        case (Plan(), Plan()) | (RecordEvents(), RecordEvents()) | (Pause(), Pause()):
            return True
        case _ if isinstance(one, ACTIONS) and type(one) is type(other):
            names = ("resource", "key", "cluster", "reason", "subresource", "dry_run")
            return all(getattr(one, name, None) == getattr(other, name, None) for name in names)
        case _:
            return one == other


async def decision(controller: Controller[Any], key: ObjectKey, snapshot: Snapshot, context: Context[Any]) -> Plan:
    """The decision of a controller, always as a coroutine."""
    made = controller.reconcile(key, snapshot, context)
    return made if isinstance(made, Plan) else await made


async def journaled(
    controller: Controller[Any],
    key: ObjectKey,
    snapshot: Snapshot,
    context: Context[Any],
    keep: Callable[[LiveTurn], None],
) -> Plan:
    """The plan of a decision, whose journal is kept: also if the decision raises, or is stopped at a step."""
    notes = NotedSnapshot({}, snapshot)
    parts, times, raised = list[Part](), list[datetime](), ""
    wants: Step[Any] | Plan | None = None
    try:
        with Execution(decision(controller, key, notes, context), key) as execution:
            wants = execution.begin()
            while isinstance(wants, Step):
                reply = await wants
                if isinstance(wants, Now):
                    times.append(reply)
                elif not isinstance(wants, Pause):
                    parts.append(Part(notes.reads, tuple(times), wants, noted(reply)))
                    notes.reads, times = {}, []
                wants = execution.go_on(reply)
            return wants
    except Exception as error:
        wants, raised = None, type(error).__name__
        raise
    finally:
        if not isinstance(wants, Now | Pause):
            parts.append(Part(notes.reads, tuple(times), wants))
        versions, has_state = tuple(sorted(context.server_versions)), context.state is not None
        journal = Journal(
            controller.name, key, context.now, context.jitter, versions, has_state, tuple(parts), raised=raised
        )
        keep(LiveTurn(controller, context.state, journal, notes.has_moved))
