"""What a process has recorded holds no secret, and repeats exactly, unless somebody decides otherwise by now."""

import base64
import json
import tempfile
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import brotli
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Decision, Event, Plan
from hedgerow.machinery.recording.journal import Journal, Lookup, NotedSnapshot, Part
from hedgerow.machinery.recording.playback import outline
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Execution, Now, Pause
from hedgerow.resource_manager.secret_redaction import Fingerprints, SecretRedaction
from hedgerow.resource_manager.secret_redaction.journals import MOST_NODES
from hedgerow_adapters.memory.clock import SettableClock
from hedgerow_adapters.recording import Recorder, RecordFile
from tests.executions import executed, plan_of
from tests.in_memory import snapshot_of
from tests.unit.adapters.recording.session import (
    COMPRESSION,
    HEADER,
    Session,
    controllers,
    documents,
    encoded,
    repeated,
)
from tests.unit.adapters.runtime.world import CART, PODS_OF_WEB, service
from tests.unit.core.resource_manager.managed_resources.harness import CONFIG_MAPS, KEY, config_map, managed_resource
from tests.unit.core.resource_manager.token_requests.harness import ACCOUNT, kubeconfig, token_secret

CANARY = "canary-4f1d"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
MR = "managedresource"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "decisions.jsonl"


def inner_secret(name: str = "inner", text: str = CANARY, **members: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": KEY.namespace, "annotations": {LAST_APPLIED: f'{{"data":"{text}"}}'}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"a": encoded(text)}, **members}


def outer_secret(name: str = "outer", **values: str | bytes) -> dict[str, Any]:
    data = {key: encoded(value) for key, value in values.items()}
    metadata = {"name": name, "namespace": KEY.namespace}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}


def kindless_secret() -> dict[str, Any]:
    return {"metadata": {"name": "kindless"}, "data": {"a": encoded(CANARY)}}


def secret_list(*items: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "SecretList", "items": [*items]}


def compressed(*manifests: Manifest) -> bytes:
    content: bytes = brotli.compress(documents(*manifests).encode())
    return content


def account() -> dict[str, Any]:
    metadata = {"name": ACCOUNT.name, "namespace": ACCOUNT.namespace}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}


def spellings(text: str) -> list[str]:
    """A text, and what of it is the same in base64 wherever it stands in what was encoded."""
    return [text, *(base64.b64encode(b"x" * shift + text.encode()).decode()[4:-4] for shift in range(3))]


def leaves(value: Any) -> Iterator[str]:
    """All texts in a JSON value, and what those stand for that are in base64 and compressed."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield name
            yield from leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each)
    elif isinstance(value, str):
        yield value
        yield from unpacked(value)


def unpacked(text: str) -> Iterator[str]:
    try:
        raw = base64.b64decode(text, validate=True)
    except ValueError:
        return
    yield raw.decode(errors="replace")
    try:
        yield brotli.decompress(raw).decode(errors="replace")
    except brotli.error:
        return


def shows(text: str, record: str) -> bool:
    """Whether a text stands in a record, however it is wrapped."""
    sought = spellings(text)
    texts = {leaf for line in record.splitlines() for leaf in leaves(json.loads(line))}
    return any(each in leaf for leaf in texts for each in sought)


CONTENTS: st.SearchStrategy[Callable[[], dict[str, str | bytes]]] = st.sampled_from(
    [
        lambda: {"objects.yaml": documents(inner_secret(), config_map("a"))},
        lambda: {"objects.yaml": documents(inner_secret(), {"kind": "Secret", "data": CANARY, "metadata": CANARY})},
        lambda: {"objects.yaml.br": compressed(inner_secret("packed"), config_map("b"))},
        lambda: {"broken.yaml": f"kind: Secret\ndata: {{a: {CANARY}\n---\n" + documents(config_map("c"))},
        lambda: {"text": CANARY, "none": ""},
        lambda: {"objects.yaml.br": f"{CANARY} is not compressed"},
        lambda: {"bytes": b"\xff" + CANARY.encode()},
        lambda: {"lists.yaml": documents({"apiVersion": "v1", "kind": "List", "items": [inner_secret("listed")]})},
        lambda: {"typo.yaml": documents({**inner_secret("typo"), "datta": {"a": CANARY}, "data": {"a": [CANARY]}})},
        lambda: {"texts.yaml": documents(inner_secret("texts", stringData={"b": CANARY, "c": f"users: {CANARY}"}))},
        lambda: {"anchor.yaml": f"a: &a {CANARY}\nkind: Secret\nmetadata: {{name: again}}\nstringData: {{a: *a}}"},
    ]
)
LOOKALIKES: Sequence[Callable[[], dict[str, str | bytes]]] = (
    lambda: {"config.yaml": f"user: admin\npassword: {CANARY}\n"},
    lambda: {"names.json": json.dumps({CANARY: {"apiVersion": "v1", "kind": "ConfigMap"}})},
    lambda: {"kubelet.yaml": f"apiVersion: kubelet.config.k8s.io/v1beta1\nkind: Settings\ntoken: {CANARY}\n"},
    lambda: {"nobody.yaml": documents({**config_map("a"), "metadata": {"token": CANARY}})},
    lambda: {"kindless.yaml": documents({"metadata": {"name": "a"}, "data": {"a": encoded(CANARY)}})},
    lambda: {"kubeconfig": documents(kubeconfig(CANARY))},
    lambda: {"users.yaml": f"users:\n- name: a\n  user: {{token: {CANARY}}}\n"},
    lambda: {"users.yaml": f"users: {{{CANARY}: secret}}\nkind: Config\n"},
    lambda: {"named.yaml": documents({"metadata": {"name": "a"}, **kubeconfig(CANARY)})},
    lambda: {"secrets.json": documents(secret_list(inner_secret("listed")))},
    lambda: {"secrets.json": documents({**secret_list(kindless_secret()), "metadata": {"name": "a"}})},
    lambda: {"secrets.json": documents({**config_map("a"), "data": {"b": secret_list(kindless_secret(), CANARY)}})},
    lambda: {"list.yaml": documents({"apiVersion": "v1", "kind": "List", "items": [kindless_secret()]})},
    lambda: {"list.yaml": documents({**secret_list(), "kind": "List", "metadata": {"a": CANARY}})},
    lambda: {"version.yaml": documents({**inner_secret(), "apiVersion": "example.org/v1", "token": CANARY})},
    lambda: {"spelled.yaml": documents({**inner_secret(), "kind": "secret"})},
    lambda: {"bare.yaml": documents({"apiVersion": "v1", "kind": "Secret", "token": CANARY})},
    lambda: {"part.yaml": documents({**config_map("a"), "data": {"kind": "Secret", "name": "b", "token": CANARY}})},
    lambda: {"odd.yaml": documents({**inner_secret(), "type": {"a": CANARY}, "immutable": [CANARY]})},
    lambda: {"odd.yaml": documents({**inner_secret(), "metadata": {"name": "a", "token": CANARY}})},
)
"""Values that are no manifests, or Secrets that one has to look at twice."""
TOKENS = st.sampled_from([{"kubeconfig": kubeconfig(CANARY)}, {"kubeconfig": CANARY}, {"token": CANARY}, {}])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    contents=st.lists(CONTENTS | st.sampled_from(LOOKALIKES), min_size=1, max_size=4),
    token=TOKENS,
    rounds=st.integers(1, 2),
    is_changed=st.booleans(),
)
def test_a_record_holds_no_secret_and_repeats_exactly(
    contents: list[Callable[[], dict[str, str | bytes]]], token: dict[str, Any], rounds: int, *, is_changed: bool
) -> None:
    names = [f"s{number}" for number in range(len(contents))]
    outer = [outer_secret(name, **make()) for name, make in zip(names, contents, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "decisions.jsonl")
        session = Session(path)
        session.put(*outer, managed_resource(*names), account(), token_secret(token), service(CART, PODS_OF_WEB))
        session.work(rounds)
        if is_changed:
            session.put(outer_secret(names[0], **{"objects.yaml": documents(inner_secret(text=f"{CANARY} changed"))}))
            session.work()
        granted = [each for each in session.cluster.objects(SECRETS) if key_of(each) == ObjectKey("bar", "source")]
        record = session.end()
        found = repeated(path)

    assert session.problems == []
    assert found.differences == []
    assert not shows(CANARY, record)
    for value in granted[0].get("data", {}).values():
        assert not shows(base64.b64decode(value).decode(), record)
    assert {each.controller for each in found.decisions} >= {MR, "token-requestor", "networkpolicy"}


@pytest.mark.parametrize("contents", LOOKALIKES)
def test_a_value_that_is_like_a_manifest_is_not_shown(
    contents: Callable[[], dict[str, str | bytes]], path: Path
) -> None:
    session = Session(path, controllers()[:1])
    session.put(outer_secret("outer", **contents()), managed_resource("outer"))
    session.work()

    assert not shows(CANARY, session.end())
    assert session.problems == []
    assert repeated(path, session.controllers).differences == []


def outline_of(journal: Journal) -> list[str]:
    assert journal.end is not None
    return outline(journal.end)


def landscape(path: Path) -> Session:
    session = Session(path)
    session.put(outer_secret(objects=documents(inner_secret(), config_map("a"))), managed_resource("outer"))
    return session


def test_decisions_by_what_is_shown_are_those_of_the_process(path: Path) -> None:
    session = landscape(path)
    session.put(account(), token_secret({"kubeconfig": kubeconfig("old")}))
    session.work(rounds=3)
    session.end()

    found = repeated(path)

    assert [each.acted for each in found.decisions if each.acted is not None] == []
    last = [each for each in found.decisions if each.controller == MR][-1]
    assert outline_of(last) == ["again in 60 s"]


def test_a_process_that_starts_anew_appends_and_finds_settled_what_was(path: Path) -> None:
    first = landscape(path)
    first.work(rounds=2)
    first.end()
    second = Session(path)
    second.cluster = first.cluster

    second.work()
    second.end()
    found = repeated(path)

    assert found.differences == []
    assert [each.acted for each in found.decisions if each.acted is not None] == []
    assert len([line for line in path.read_text(encoding="utf-8").splitlines() if "hedgerow-record" in line]) == 2


def test_the_state_that_a_turn_leaves_is_not_recorded_and_replayed_all_the_same(path: Path) -> None:
    session = landscape(path)
    session.work(rounds=4)
    session.end()

    found = repeated(path)
    own = [each for each in found.decisions if each.controller == MR]
    assert [each.has_state for each in own] == [False, True, True, True]
    assert {each.end.state for each in own if each.end} == {None}
    assert (found.differences, found.skipped) == ([], 0)


def changed(controller: Controller[Any], decide: Callable[[Plan], Plan]) -> Controller[Any]:
    async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[Any]) -> Plan:
        decision = controller.reconcile(key, snapshot, context)
        return decide(decision if isinstance(decision, Plan) else await decision)

    return replace(controller, reconcile=reconcile)


def test_a_decision_that_comes_out_otherwise_is_shown(path: Path) -> None:
    session = landscape(path)
    session.work()
    session.end()
    event = Event(MANAGED_RESOURCES, KEY, None, "Warning", "Otherwise", "it is another time")
    others = [changed(each, lambda plan: replace(plan, events=(event,))) for each in controllers()]

    found = repeated(path, [each for each in others if each.name == MR] + controllers()[1:])

    turns = {each.turn for each in found.decisions if each.controller == MR}
    assert [difference.decision.turn for difference in found.differences] == sorted(turns)
    difference = found.differences[0]
    assert difference.summary == "has another plan"
    assert difference.lines[:2] == ["--- recorded", "+++ repeated"]
    assert '+      "note": "it is another time"' in difference.lines
    assert not [line for line in difference.lines[2:] if line.startswith("-")]


def test_a_decision_that_comes_to_what_cannot_be_compared_is_a_difference(path: Path) -> None:
    session = Session(path, controllers()[1:2])
    session.put(outer_secret())
    session.work()
    session.end()
    strange: Any = object()
    event = Event(SECRETS, KEY, None, "Normal", "Strange", strange)

    found = repeated(path, [changed(session.controllers[0], lambda plan: replace(plan, events=(event,)))])

    (difference,) = found.differences
    assert difference.summary == (
        "ends with a value that cannot be compared: a record cannot hold a value of type builtins.object"
    )


def test_a_decision_is_made_once_for_the_process_and_again_beside_it_only_where_a_secret_was_read(path: Path) -> None:
    made: Counter[tuple[str, bool]] = Counter()
    own = threading.current_thread()

    def counted(controller: Controller[Any]) -> Controller[Any]:
        def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[Any]) -> Plan | Decision:
            made[controller.name, threading.current_thread() is own] += 1
            return controller.reconcile(key, snapshot, context)

        return replace(controller, reconcile=reconcile)

    session = Session(path, [counted(each) for each in controllers() if each.name in {MR, "networkpolicy"}])
    session.put(outer_secret(objects=documents(inner_secret())), managed_resource("outer"), service(CART))
    session.work()
    session.end()

    assert made == {(MR, True): 1, (MR, False): 1, ("networkpolicy", True): 1}


def test_a_defect_of_the_record_costs_one_line_and_tells_no_secret(path: Path) -> None:
    class Broken(SecretRedaction):
        def redacted(self, parts: Sequence[Part]) -> Sequence[Part]:
            raise KeyError(CANARY, parts)

    session = Session(path, controllers()[1:2], redaction=Broken(Fingerprints(b"key"), COMPRESSION))
    session.put(outer_secret())
    session.work()

    assert not shows(CANARY, session.end())
    assert session.problems == ["secret default/outer: defect: KeyError"]
    assert repeated(path).skipped == 1


def test_a_decision_that_looks_at_more_is_told_of_what_it_misses(path: Path) -> None:
    session = landscape(path)
    session.work()
    session.end()

    def look(controller: Controller[Any]) -> Controller[Any]:
        def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[Any]) -> Plan | Decision:
            snapshot.get(CONFIG_MAPS, ObjectKey("shop", "settings"))
            return controller.reconcile(key, snapshot, context)

        return replace(controller, reconcile=reconcile)

    found = repeated(path, [look(each) for each in controllers()])

    assert {each.summary for each in found.differences} == {"asks for ConfigMap shop/settings, which was not read then"}
    assert len(found.differences) == len(found.decisions)


def test_a_controller_that_runs_no_longer_is_told(path: Path) -> None:
    session = landscape(path)
    session.work()
    session.end()

    found = repeated(path, controllers()[1:])

    assert {each.summary for each in found.differences} == {"no controller of this name runs with that configuration"}


def broken(error: Exception | None) -> Controller[Any]:
    """One that has a defect, or had."""

    def reconcile(_key: ObjectKey, snapshot: Snapshot, _context: Context[Any]) -> Plan:
        snapshot.list(SECRETS, cluster=Cluster.SOURCE)
        if error is not None:
            raise error
        return Plan()

    return replace(controllers()[1], reconcile=reconcile)


def test_a_defect_is_recorded_and_repeated(path: Path) -> None:
    session = Session(path, [broken(KeyError(CANARY))])
    session.put(outer_secret())
    with pytest.raises(KeyError):
        session.work()

    assert not shows(CANARY, session.end())
    assert repeated(path, [broken(KeyError("again"))]).differences == []
    (corrected,) = repeated(path, [broken(None)]).differences
    assert corrected.summary == "has a plan and raised KeyError then"
    (another,) = repeated(path, [broken(OSError("no disk"))]).differences
    assert another.summary == "raises OSError: no disk"


def test_what_the_process_did_is_told_where_it_depends_on_what_is_not_shown(path: Path) -> None:
    def reconcile(key: ObjectKey, snapshot: Snapshot, _context: Context[Any]) -> Plan:
        (secret,) = snapshot.list(SECRETS, cluster=Cluster.SOURCE)
        is_long = len(secret["data"]["token"]) > len(encoded(f"longer than {CANARY}"))
        event = Event(SECRETS, key, None, "Warning", "TooLong" if is_long else "TooShort", secret["data"]["token"])
        return Plan(events=(event,))

    token = next(each for each in controllers() if each.name == "token-requestor")
    measuring = replace(token, reconcile=reconcile)
    session = Session(path, [measuring])
    session.put(token_secret({"token": CANARY}))
    session.work()
    record = session.end()

    (decision,) = repeated(path, [measuring]).decisions

    assert decision.acted == ("Warning event TooShort about Secret bar/source",)
    assert outline_of(decision) == ["Warning event TooLong about Secret bar/source"]
    assert repeated(path, [measuring]).differences == []
    assert not shows(CANARY, record)


def test_a_decision_that_pauses_repeats_exactly(path: Path) -> None:
    session = Session(path)
    objects = [config_map(f"entry-{number:03}") for number in range(120)]
    session.put(*objects[::2], outer_secret(k=documents(*objects)), managed_resource("outer"))

    session.work(rounds=2)
    session.end()

    result = repeated(path)
    assert (result.differences, result.skipped, session.problems) == ([], 0, [])
    assert [each.acted for each in result.decisions if each.acted is not None] == []
    assert len(session.cluster.objects(CONFIG_MAPS)) == len(objects)


def test_a_decision_that_pauses_more_often_than_the_record_shows_repeats_exactly(path: Path) -> None:
    session = Session(path)
    long = [inner_secret(f"inner-{number:02}", CANARY * 50) for number in range(30)]
    session.put(outer_secret(k=documents(*long)), managed_resource("outer"))

    session.work(rounds=2)

    assert not shows(CANARY, session.end())
    result = repeated(path)
    assert (result.differences, result.skipped, session.problems) == ([], 0, [])
    assert [each.acted for each in result.decisions if each.acted is not None] == []


@pytest.mark.parametrize("key", ["k", "k.br"])
def test_a_turn_whose_secrets_hold_too_much_is_not_recorded_and_decided_all_the_same(path: Path, key: str) -> None:
    session = Session(path)
    text = f"{documents(config_map('good'))}---\n[{'[],' * MOST_NODES}[]]\n".encode()
    values: dict[str, Any] = {key: brotli.compress(text) if key.endswith(".br") else text}
    session.put(outer_secret(**values), managed_resource("outer"), service(CART))

    session.work()
    session.end()

    result = repeated(path)
    assert session.problems == [f"{MR} {KEY}: its Secrets hold more than {MOST_NODES} values"]
    assert (result.differences, result.skipped) == ([], 1)
    assert session.cluster.get(CONFIG_MAPS, ObjectKey("default", "good")) is not None


@pytest.mark.parametrize(
    ("note", "problem"),
    [
        (object(), "a record cannot hold a value of type builtins.object"),
        ([[]], "something in it is nested too deeply"),
    ],
    ids=["strange", "deep"],
)
def test_a_turn_that_cannot_be_recorded_is_left_out_and_told(path: Path, note: Any, problem: str) -> None:
    if note == [[]]:
        for _ in range(2000):
            note = [note]

    def reconcile(key: ObjectKey, _snapshot: Snapshot, context: Context[Any]) -> Plan:
        text = "a text" if context.state else note
        return Plan(events=(Event(SECRETS, key, None, "Normal", "Noted", text),), state=not context.state or None)

    strange = replace(controllers()[1], reconcile=reconcile)
    session = Session(path, [strange])
    session.put(outer_secret())
    session.work(rounds=2)
    session.end()

    assert session.problems[0] == f"secret default/outer: {problem}"


def test_what_follows_a_gap_is_recorded_as_if_the_process_had_just_started(path: Path) -> None:
    """The state that a turn leaves is known only to who knows what the turn was told."""
    session = Session(path)
    gap = session.clock() + timedelta(seconds=2)

    def reconcile(key: ObjectKey, _snapshot: Snapshot, context: Context[Any]) -> Plan:
        count = (context.state or 0) + 1
        note: Any = object() if context.now == gap else "a text"
        return Plan(state=count, events=(Event(SECRETS, key, None, "Normal", f"Counted{count}", note),))

    session.controllers = [replace(controllers()[1], reconcile=reconcile)]
    session.put(outer_secret())
    for _ in range(5):
        session.work()
        session.clock.advance(1)
    session.end()

    found = repeated(path, session.controllers)

    assert [each.turn for each in found.decisions] == [1, 2, 4, 5]
    assert [each.has_state for each in found.decisions] == [False, True, False, True]
    assert [each.acted for each in found.decisions] == [
        None,
        None,
        ("Normal event Counted4 about Secret default/outer",),
        ("Normal event Counted5 about Secret default/outer",),
    ]
    assert (found.skipped, found.differences) == (1, [])


def test_what_depends_on_a_turn_that_cannot_be_read_is_left_out(path: Path) -> None:
    session = landscape(path)
    session.work(rounds=4)
    lines = [json.loads(line) for line in session.end().splitlines()]
    second, *_ = (line for line in lines if line.get("controller") == MR and line.get("has_state"))
    second["parts"][0]["reads"] = {"$": "table", "of": [[{"$": "gone"}, None]]}
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")

    found = repeated(path)

    (difference,) = found.differences
    assert difference.decision.turn == second["turn"]
    assert difference.summary == "holds what this version does not know: there is no type gone"
    assert found.skipped == 2


def test_a_turn_goes_on_after_a_difference_for_the_state_that_it_leaves(path: Path) -> None:
    session = landscape(path)
    session.work(rounds=4)
    lines = [json.loads(line) for line in session.end().splitlines()]
    first = next(line for line in lines if line.get("controller") == MR)
    written = next(part["wants"] for part in first["parts"] if part["wants"]["$"] == "jsonPatch")
    written["operations"].append({"op": "add", "path": "/metadata/labels", "value": {"a": "b"}})
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")

    found = repeated(path)

    assert [each.summary for each in found.differences] == ["has another step"]
    assert found.differences[0].part == 1 + next(
        number for number, part in enumerate(first["parts"]) if part["wants"] is written
    )
    assert found.skipped == 0


def test_a_decision_that_is_stopped_is_recorded_up_to_where_it_waits(path: Path) -> None:
    session = landscape(path)
    controller = session.controllers[0]
    _, snapshot = snapshot_of(dict.fromkeys(Cluster, session.cluster), controller)
    context = Context(session.clock(), controller.config)
    with Execution(session.recorder.decide(controller, KEY, snapshot, context)) as execution:
        step = execution.begin()
        while isinstance(step, Now | Pause):
            step = execution.go_on(session.clock())
    session.end()

    found = repeated(path)

    (decision,) = found.decisions
    assert decision.end is None
    assert decision.raised == ""
    assert decision.parts[-1].wants == step
    assert found.differences == []


def test_a_decision_that_sees_a_change_while_it_pauses_is_recorded_by_what_it_saw_last(path: Path) -> None:
    versions = iter(["1", "2"])

    class Moving(NotedSnapshot):
        def get(self, resource: Resource, key: ObjectKey, cluster: Cluster = Cluster.TARGET) -> Manifest | None:
            del resource, key, cluster
            return {"metadata": {"name": "moving", "resourceVersion": next(versions)}}

    async def reconcile(key: ObjectKey, snapshot: Snapshot, _context: Context[Any]) -> Plan:
        snapshot.get(CONFIG_MAPS, key)
        await Pause()
        seen = snapshot.get(CONFIG_MAPS, key) or {}
        return Plan(events=(Event(CONFIG_MAPS, key, None, "Normal", "Seen", seen["metadata"]["resourceVersion"]),))

    session = Session(path)
    controller = replace(controllers()[1], reconcile=reconcile)
    decision = session.recorder.decide(controller, KEY, Moving({}), Context(session.clock(), controller.config))
    plan, _ = executed(decision, lambda _step: None)
    session.end()

    found = repeated(path, [controller])

    assert found.differences == []
    (recorded,) = found.decisions
    assert recorded.end == plan


class Remembered(dict[str, Any]):
    """A state that one can see go."""

    __hash__ = object.__hash__  # type: ignore[assignment]  # one is not another, though they are equal


def test_of_a_turn_that_is_over_and_a_key_that_is_gone_nothing_is_kept(path: Path) -> None:
    states: weakref.WeakSet[Any] = weakref.WeakSet()

    def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[Any]) -> Plan:
        if snapshot.get(SECRETS, key, Cluster.SOURCE) is None:
            return Plan()
        state = Remembered(text="x")
        states.add(state)
        return Plan(state=state, requeue_after=float(bool(context.state)))

    controller = replace(controllers()[1], reconcile=reconcile)
    file = RecordFile(path, pytest.fail)
    recorder = Recorder(file, HEADER, SecretRedaction(Fingerprints(b"key"), COMPRESSION), pytest.fail)
    key, memory = key_of(outer_secret()), None
    for found in (outer_secret(), outer_secret(), None):
        world = NotedSnapshot({Lookup("get", SECRETS, Cluster.SOURCE, key): found})
        context = Context(SettableClock()(), controller.config, state=memory)
        memory = plan_of(recorder.decide(controller, key, world, context)).state
        del context
    file.close()

    assert not states
    assert repeated(path, [controller]).differences == []
