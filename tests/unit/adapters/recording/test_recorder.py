"""What a process has recorded holds no secret, and repeats exactly, unless somebody decides otherwise by now."""

import base64
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import brotli
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.plan import Event, Plan
from hedgerow.machinery.recording.codec import decoded
from hedgerow.machinery.recording.plans import outline
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.managed_resources.names import MANAGED_RESOURCES, SECRETS
from tests.unit.adapters.recording.session import Session, controllers, documents, encoded, repeated
from tests.unit.adapters.runtime.world import CART, PODS_OF_WEB, service
from tests.unit.core.resource_manager.managed_resources.workshop import CONFIG_MAPS, KEY, config_map, managed_resource
from tests.unit.core.resource_manager.token_requests.workshop import ACCOUNT, kubeconfig, token_secret

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
    return any(
        each in leaf for line in record.splitlines() for leaf in leaves(json.loads(line)) for each in spellings(text)
    )


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
TOKENS = st.sampled_from([{"kubeconfig": kubeconfig(CANARY)}, {"kubeconfig": CANARY}, {"token": CANARY}, {}])


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    contents=st.lists(CONTENTS, min_size=1, max_size=3),
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
    assert outline(decoded(last.plan)) == ["again in 60 s"]
    assert last.stage == 0, "is not settled in the record"


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

    first_stages = [each for each in found.decisions if each.controller == MR and each.stage == 0]
    told = [(each.memory is not None, each.remembers_as_before) for each in first_stages]
    assert told == [(False, False), (True, False), (True, False), (False, True)]
    assert found.differences == []


def changed(controller: Controller[Any], decide: Callable[[Plan], Plan]) -> Controller[Any]:
    def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[Any]) -> Plan:
        return decide(controller.reconcile(key, snapshot, context))

    return replace(controller, reconcile=reconcile)


def test_a_decision_that_comes_out_otherwise_is_shown(path: Path) -> None:
    session = landscape(path)
    session.work()
    session.end()
    event = Event(MANAGED_RESOURCES, KEY, None, "Warning", "Otherwise", "it is another time")
    others = [changed(each, lambda plan: replace(plan, events=(event,))) for each in controllers()]

    found = repeated(path, [each for each in others if each.name == MR] + controllers()[1:])

    assert len(found.differences) == len([each for each in found.decisions if each.controller == MR]) > 1
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
        def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[Any]) -> Plan:
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

    assert decision.acted == ["Warning event TooShort about Secret bar/source"]
    assert outline(decoded(decision.plan)) == ["Warning event TooLong about Secret bar/source"]
    assert repeated(path, [measuring]).differences == []
    assert not shows(CANARY, record)


def test_a_turn_that_cannot_be_recorded_is_left_out_and_told(path: Path) -> None:
    def reconcile(_key: ObjectKey, _snapshot: Snapshot, context: Context[Any]) -> Plan:
        return Plan() if context.memory else Plan(requeue_after=1.0, memory=object())

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
