"""What a process has recorded holds no secret, and repeats exactly, unless somebody decides otherwise by now."""

import base64
import json
import tempfile
import weakref
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
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.plan import Decision, Event, Plan
from hedgerow.machinery.recording.codec import decoded
from hedgerow.machinery.recording.plans import outline
from hedgerow.machinery.recording.reads import Got, RecordedSnapshot
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.disguise import Fingerprints, SecretsDisguised
from hedgerow.resource_manager.disguise.turn import MOST_NODES
from hedgerow_adapters.memory.clock import SettableClock
from hedgerow_adapters.recording import Recorder, RecordFile
from tests.executions import plan_of
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
    assert outline(decoded(last.wants)) == ["again in 60 s"]


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


def test_what_a_turn_remembers_is_recorded_once(path: Path) -> None:
    session = landscape(path)
    session.work(rounds=4)
    session.end()

    found = repeated(path)

    first_segments = [each for each in found.decisions if each.controller == MR and each.number == 0]
    told = [(each.memory is not None, each.remembers_as_before) for each in first_segments]
    assert told == [(False, False), (True, False), (True, False), (False, True)]
    assert found.differences == []


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
    assert '+  "note": "it is another time",' in difference.lines
    assert not [line for line in difference.lines[2:] if line.startswith("-")]


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
    assert len(found.differences) == len({each.turn for each in found.decisions}), "nothing follows a difference"


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

    assert decision.acted == ["Warning event TooShort about Secret bar/source"]
    assert outline(decoded(decision.wants)) == ["Warning event TooLong about Secret bar/source"]
    assert repeated(path, [measuring]).differences == []
    assert not shows(CANARY, record)


def test_a_decision_that_pauses_is_recorded_once_it_has_come_to_a_plan_and_repeats_exactly(path: Path) -> None:
    session = Session(path)
    objects = [config_map(f"entry-{number:03}") for number in range(120)]
    session.put(*objects[::2], outer_secret(k=documents(*objects)), managed_resource("outer"))

    session.work(rounds=2)
    session.end()

    result = repeated(path)
    own = [each for each in result.decisions if each.controller == MR and each.key == KEY]
    assert (result.differences, result.skipped, session.problems) == ([], 0, [])
    assert [each.acted for each in result.decisions if each.acted is not None] == []
    for number in {each.turn for each in own}:
        segments = [each.number for each in own if each.turn == number]
        assert segments == list(range(len(segments)))
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


def test_a_turn_that_cannot_be_recorded_is_left_out_and_told(path: Path) -> None:
    def reconcile(_key: ObjectKey, _snapshot: Snapshot, context: Context[Any]) -> Plan:
        return Plan() if context.state else Plan(requeue_after=1.0, state=object())

    strange = replace(controllers()[1], reconcile=reconcile)
    session = Session(path, [strange])
    session.put(outer_secret())
    session.work(rounds=3)
    session.end()

    found = repeated(path, [strange])

    assert session.problems == [
        "secret default/outer: a record cannot hold a value of type builtins.object",
    ]
    assert (len(found.decisions), found.skipped, found.differences) == (2, 1, [])


def nested(levels: int) -> dict[str, Any]:
    return {"a": nested(levels - 1)} if levels else {}


def test_what_cannot_be_recorded_does_not_keep_the_process_from_its_work(path: Path) -> None:
    decided = []

    def reconcile(_key: ObjectKey, _snapshot: Snapshot, context: Context[Any]) -> Plan:
        decided.append(context.state)
        return Plan(state=nested(600))

    deep = replace(controllers()[1], reconcile=reconcile)
    session = Session(path, [deep])
    session.put(outer_secret())
    session.work(rounds=3)
    session.end()

    assert session.problems == ["secret default/outer: something in it is nested too deeply"] * 2
    assert sum(memory is not None for memory in decided) == 4, "each of two turns is decided and rehearsed"
    assert repeated(path, [deep]).skipped == 2


def test_what_follows_a_gap_is_repeated_from_what_the_turn_was_told(path: Path) -> None:
    """The second turn leaves another memory than the first, and all others keep it; the third, which is the first that
    is told it, is not recorded, and neither is the sixth."""
    session = Session(path)
    gaps = [session.clock() + timedelta(seconds=2), session.clock() + timedelta(seconds=5)]

    def reconcile(key: ObjectKey, _snapshot: Snapshot, context: Context[Any]) -> Plan:
        memory = context.state
        if memory is None:
            return Plan(state={"turn": 1})
        note: Any = object() if context.now in gaps else "a text"
        event = Event(SECRETS, key, None, "Normal", "Kept", note)
        kept = {"turn": 2} if memory == {"turn": 1} else memory
        return Plan(state=kept, requeue_after=float(memory["turn"]), events=(event,))

    session.controllers = [replace(controllers()[1], reconcile=reconcile)]
    session.put(outer_secret())
    for _ in range(7):
        session.work()
        session.clock.advance(1)
    session.end()

    found = repeated(path, session.controllers)

    told = [(each.memory, each.remembers_as_before) for each in found.decisions]
    in_full = ({"turn": 2}, False)
    assert told == [(None, False), ({"turn": 1}, False), in_full, (None, True), in_full]
    assert (found.skipped, found.differences) == (2, [])


def test_what_a_turn_was_told_that_cannot_be_read_is_not_taken_from_an_earlier_one(path: Path) -> None:
    session = landscape(path)
    session.work(rounds=4)
    lines = [json.loads(line) for line in session.end().splitlines()]
    *_, told = (line for line in lines if line.get("controller") == MR and "memory" in line)
    told["memory"] = {"$": "garden.memory.Memory"}
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")

    found = repeated(path)

    assert [each.decision.turn for each in found.differences] == [told["turn"]]
    assert found.skipped > 0


class Remembered(dict[str, Any]):
    """A memory that one can see go."""

    __hash__ = object.__hash__  # type: ignore[assignment]  # one is not another, though they are equal


def test_of_a_turn_that_is_over_and_a_key_that_is_gone_nothing_is_kept(path: Path) -> None:
    memories: weakref.WeakSet[Any] = weakref.WeakSet()
    disguises: weakref.WeakSet[Any] = weakref.WeakSet()

    class Watched(SecretsDisguised):
        def disguise(self) -> Any:
            disguise = super().disguise()
            disguises.add(disguise)
            return disguise

    def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[Any]) -> Plan:
        if snapshot.get(SECRETS, key, Cluster.SOURCE) is None:
            return Plan()
        memory = Remembered(text="x")
        memories.add(memory)
        return Plan(state=memory, requeue_after=float(bool(context.state)))

    controller = replace(controllers()[1], reconcile=reconcile)
    file = RecordFile(path, pytest.fail)
    recorder = Recorder(file, HEADER, Watched(Fingerprints(b"key"), COMPRESSION), pytest.fail)
    key, memory = key_of(outer_secret()), None
    for found in (outer_secret(), outer_secret(), None):
        world = RecordedSnapshot({Got(SECRETS, key, Cluster.SOURCE): found})
        context = Context(SettableClock()(), controller.config, state=memory)
        memory = plan_of(recorder.decide(controller, key, world, context)).state
        del context
        assert not disguises
    file.close()

    assert not memories
    assert repeated(path, [controller]).differences == []
