"""The extension shoot-rsyslog-relp, against what the reference decoded, decided, rendered and did on nodes."""

import json
import re
import subprocess
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from returns.result import Failure

from hedgerow.admission import Allowed, Decision, Denied, Mutated
from hedgerow.admission.review import parse_review
from hedgerow.machinery.failures import FieldErrorType, joined
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.questions import Answer, NotAnswered, ObjectQuestion, Question
from hedgerow.rsyslog_relp.config import RsyslogRelpConfig, decode_text
from hedgerow.rsyslog_relp.monitoring import monitoring_config_map
from hedgerow.rsyslog_relp.naming import DEFAULT_PATHS, HostPaths
from hedgerow.rsyslog_relp.operating_system_config import operating_system_config_webhook
from hedgerow.rsyslog_relp.pstats import textfiles
from hedgerow.rsyslog_relp.rendering import pstats_script
from hedgerow.rsyslog_relp.shoot_admission import shoot_admission_webhook
from hedgerow.rsyslog_relp.validation import config_problems
from tests.golden.reference.recorded_extension import RecordedExtension
from tests.golden.reference.recordings import cases
from tests.unit.core.admission.world import answered, reviewed, world
from tests.unit.core.rsyslog_relp.node import PATIENCE, Node

TYPES = {
    FieldErrorType.REQUIRED: "Required",
    FieldErrorType.INVALID: "Invalid",
    FieldErrorType.UNSUPPORTED: "NotSupported",
}
PATHS = replace(DEFAULT_PATHS, audit_staged_dir=f"{DEFAULT_PATHS.osc_dir}/audit/rules.d")
"""The reference stages audit rules elsewhere (D-1)."""
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[(){}\[\],=]|[^\s(){}\[\],="]+')
OWN_UNIT = "rsyslog-configurator.service"

Recording = Mapping[str, Any]


@pytest.mark.parametrize("recording", [*cases("rsyslog-relp-validation.jsonl")])
def test_the_same_configurations_are_valid(recording: Recording) -> None:
    strict = decode_text(recording["providerConfig"], is_strict=True)
    lenient = decode_text(recording["providerConfig"], is_strict=False)

    assert isinstance(strict, Failure) is (recording["decodeError"] is not None)
    assert isinstance(lenient, Failure) is (recording["lenientDecodeError"] is not None)
    if recording["lenientDecodeError"] is None:
        assert manifest_of(lenient.unwrap()) == recording["lenientConfig"]
    if recording["decodeError"] is None:
        problems = config_problems(strict.unwrap(), is_strict=False)
        assert [[each.path, TYPES[each.type], str(each)] for each in problems if each.type] == recording["errors"]
        assert (joined(problems) if problems else None) == (recording["message"] or None)
        assert manifest_of(strict.unwrap()) == recording["config"]
    elif recording["decodeError"].startswith("no kind"):
        expected = recording["decodeError"].partition(" in scheme")[0]
        assert joined(strict.failure()) == expected


def manifest_of(config: RsyslogRelpConfig) -> dict[str, Any]:
    """The configuration as the reference writes it back: absent and empty optional fields are left out."""
    optional: dict[str, Any] = {
        "loggingRules": [
            {**({"programNames": [*rule.program_names]} if rule.program_names else {}), "severity": rule.severity}
            for rule in config.logging_rules
        ]
        or None,
        "rebindInterval": config.rebind_interval,
        "timeout": config.timeout,
        "resumeRetryCount": config.resume_retry_count,
        "reportSuspensionContinuation": config.report_suspension_continuation,
    }
    if tls := config.tls:
        settings = {
            "secretReferenceName": tls.secret_reference_name,
            "permittedPeer": [*tls.permitted_peers] or None,
            "authMode": tls.auth_mode,
            "tlsLib": tls.library,
        }
        optional["tls"] = {"enabled": tls.enabled, **stated(settings)}
    return {"target": config.target, "port": config.port, **stated(optional)}


def stated(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


@pytest.mark.parametrize("recording", [*cases("rsyslog-relp-admission.jsonl")])
def test_the_same_shoots_are_denied(recording: Recording) -> None:
    request = recording["request"]
    decision = decided(shoot_admission_webhook(is_strict=False), recording)

    if ((request.get("object") or {}).get("metadata") or {}).get("deletionTimestamp"):
        assert decision == Allowed()
        return
    if recording["message"].startswith("could not decode request"):
        return  # other fields of the Shoot, which an API server has decoded before
    assert isinstance(decision, Denied) is not recording["allowed"]
    if isinstance(decision, Denied):
        assert decision.code == recording["code"]
        if decision.code == 422 and not re.search("json: |strict decoding|decode", recording["message"]):
            assert up_to_cause(decision.message) == up_to_cause(recording["message"])


def decided(webhook: Any, recording: Recording) -> Decision:
    """What a webhook decides about a request, if the objects of the recording exist and its reads fail."""
    request = parse_review({"request": recording["request"]}).unwrap().request

    def answer(question: Question) -> Answer:
        assert isinstance(question, ObjectQuestion)
        for fault in recording["faults"]:
            if fault["kind"] == question.resource.kind and fault["name"] in {"", question.key.name}:
                is_absent = fault["error"] == "NotFound"
                return NotAnswered(404 if is_absent else 500, fault["error"], "read failed")
        return answered(question, recording["objects"])

    return reviewed(webhook, request, world(webhook), answer)[0]


def up_to_cause(message: str) -> str:
    return re.split(r"with error: |: (?=[a-z.]+ \"|Internal error|read failed)", message)[0]


@pytest.mark.parametrize("recording", [*cases("rsyslog-relp-osc.jsonl")])
def test_the_same_files_and_units_are_added(recording: Recording) -> None:
    decision = decided(operating_system_config_webhook(PATHS), recording)

    request = recording["request"]
    if is_deleted(recording["objects"]):
        assert decision == Allowed() or recording["allowed"] is False
    elif recording.get("message") == "Invalid Semantic Version":
        pass  # the reference looks at versions that are none of its business here
    elif "panic" in recording or (recording.get("files") and recording["configErrors"] not in (None, [])):
        assert isinstance(decision, Denied)
    elif not recording["allowed"]:
        assert isinstance(decision, Denied)
        if recording["code"] == 422 and not recording["configErrors"]:
            assert up_to_cause(decision.message).startswith(up_to_cause(recording["message"]))
    elif not recording["patched"]:
        assert decision == Allowed()
    elif "providerConfig" not in extension_spec(recording["objects"]):
        assert isinstance(decision, Denied)  # a configuration is required (D-11)
    else:
        assert isinstance(decision, Mutated)
        spec = decision.object["spec"]
        assert len(spec["files"]) == len(recording["files"])
        for ours, theirs in zip(spec["files"], recording["files"], strict=True):
            compare_files(ours, theirs, is_plain=recording["plain"])
        assert [*map(comparable_unit, spec["units"])] == [*map(comparable_unit, recording["units"])]
        before, after = request["object"], decision.object
        assert {**after, "spec": None} == {**before, "spec": None}


def is_deleted(objects: Sequence[Recording]) -> bool:
    shoots = ((each.get("spec") or {}).get("shoot") for each in objects if each["kind"] == "Cluster")
    return any("deletionTimestamp" in (shoot or {}).get("metadata", {}) for shoot in shoots)


def extension_spec(objects: Sequence[Recording]) -> Mapping[str, Any]:
    return next(each for each in objects if each["kind"] == "Extension").get("spec") or {}


def compare_files(ours: Mapping[str, Any], theirs: Mapping[str, Any], *, is_plain: bool) -> None:
    """One entry of `spec.files`; the recording has the content of own files decoded."""
    path = theirs["path"]
    if "inline" not in theirs["content"] or theirs["content"]["inline"]["data"] == "SCRIPT" or not is_own(path):
        hidden = theirs["content"].get("inline", {}).get("data") == "SCRIPT"
        assert {**ours, "content": None if hidden else ours["content"]} == {
            **theirs,
            "content": None if hidden else theirs["content"],
        }
        return
    assert {**ours, "content": None} == {**theirs, "content": None}
    assert ours["content"]["inline"]["encoding"] == "b64"
    text = b64decode(ours["content"]["inline"]["data"]).decode()
    if path == PATHS.conf_staged:
        compare_tokens(text, theirs["content"]["inline"]["data"], is_plain=is_plain)
    else:
        directives = {each for each in text.splitlines() if not each.startswith("#")}
        known = {each for each in directives if "mount_setattr" not in each and each != "-i"}
        assert known == {each.replace("-S mount_setattr ", "") for each in theirs["content"]["inline"]["data"]}


def is_own(path: str) -> bool:
    return path == PATHS.conf_staged or path.startswith(f"{PATHS.audit_staged_dir}/")


def compare_tokens(ours: str, theirs: str, *, is_plain: bool) -> None:
    """Token by token, comments left out; strings of the input may be quoted in another way unless they are plain."""
    tokens = TOKEN.findall("\n".join(line for line in ours.splitlines() if not line.startswith("#")))
    expected = TOKEN.findall(theirs)
    if is_plain:
        assert tokens == expected
    elif re.search('target="[^"]*"[^" ]+', theirs):
        assert tokens.count("call") == theirs.count("call relp_action_ruleset")  # the reference's file is broken
    else:
        assert [each for each in tokens if each[0] != '"'] == [each for each in expected if each[0] != '"']


def comparable_unit(unit: Mapping[str, Any]) -> Mapping[str, Any]:
    if unit["name"] != OWN_UNIT:
        return unit
    content = unit["content"]
    lines = content.splitlines() if isinstance(content, str) else content
    return {**unit, "content": [line for line in lines if not line.startswith(("Description=", "Documentation="))]}


SCRIPTS = [*cases("rsyslog-relp-scripts.jsonl")]
ON_NODES = [each for each in SCRIPTS if each.values[0] is None or each.values[0]["script"] != "pstats"]
STATISTICS = [each for each in SCRIPTS if each.values[0] is None or each.values[0]["script"] == "pstats"]


@pytest.mark.parametrize("recording", ON_NODES)
def test_scripts_do_the_same_on_nodes(recording: Recording, tmp_path: Path) -> None:
    deviates = {*recording["deviates"]}
    node = Node(tmp_path)
    node.edit(recording["before"])
    node.set_units(recording["state"])
    node.fail(recording["fail"])
    for run in recording["runs"]:
        node.edit(run.get("edits", {}))
        for unit in run.get("stopped", ()):
            node.stop(unit)
        status, calls = node.configure() if recording["script"] == "configure" else node.clean()
        tree, expected = node.tree(), {name: text for name, text in run["tree"].items() if not name.endswith("/")}
        assert status == 0
        if "D-8" in deviates:
            assert re.findall("(?im)^ *active *= *(.*)$", tree.pop("audit_syslog_plugin", "")) != []
            expected.pop("audit_syslog_plugin", None)
        if "D-9" in deviates:
            assert "pstats_output" not in tree
            expected.pop("pstats_output", None)
        if deviates & {"A4", "D-13"}:
            tree = {name: text for name, text in tree.items() if "/." not in name}
            expected = {name: text for name, text in expected.items() if "/." not in name}
        if deviates <= {"D-9"}:
            assert (status, calls) == (run["exit"], run["calls"])
        if "D-13" not in deviates:
            assert tree == expected
            units = {unit: sorted(words) for unit, words in run["units"].items()}
            assert node.units() == units
    if "D-13" in deviates and recording["script"] == "configure":
        node.fail(())
        node.configure()
        assert node.configure() == (0, [])


@pytest.mark.parametrize("recording", STATISTICS)
def test_statistics_become_the_same_metrics(recording: Recording, tmp_path: Path) -> None:
    paths = HostPaths.below(str(tmp_path))
    output = Path(paths.pstats_output)
    output.parent.mkdir(parents=True)
    for name, text in recording["before"].items():
        Path(f"{output}{name.removeprefix('pstats_output')}").write_text(text)

    lines = recording["lines"]
    script = subprocess.run(
        ["bash", "-c", pstats_script(paths)],
        input="".join(f"{line}\n" for line in lines),
        text=True,
        timeout=PATIENCE,
        check=True,
    )

    text = output.read_text() if output.exists() else None
    assert text == next(reversed([*textfiles(lines)]), recording["before"].get("pstats_output"))
    if not recording["deviates"]:
        assert script.returncode == recording["exit"]
        samples = None if text is None else sorted(line for line in text.splitlines() if line[0] != "#")
        assert samples == recording["samples"]


@pytest.mark.parametrize("recording", [*cases("rsyslog-relp-monitoring.jsonl")])
def test_monitoring_is_the_same(recording: Recording) -> None:
    config_map = monitoring_config_map("shoot--bar--foo")
    data = config_map["data"]

    assert config_map["metadata"]["name"] == recording["name"]
    assert config_map["metadata"]["labels"] == recording["labels"]
    assert sorted(data) == recording["dataKeys"]
    assert yaml.safe_load(data["scrape_config"]) == recording["scrape"]
    rules = yaml.safe_load(data["alerting_rules"])
    assert [*rules] == recording["ruleFiles"]
    (group,) = yaml.safe_load(rules[recording["ruleFiles"][0]])["groups"]
    assert [
        (each["alert"], each["for"], each["labels"], each["expr"], sorted(each["annotations"]))
        for each in group["rules"]
    ] == [
        (
            each["alert"],
            each["for"],
            each["labels"],
            each["expr"].replace("rsyslg-relp", "rsyslog-relp"),
            each["annotationKeys"],
        )
        for each in recording["alerts"]
    ]
    dashboards = yaml.safe_load(data["dashboard_operators"])
    assert [*dashboards] == recording["dashboardFiles"]
    dashboard = json.loads(dashboards[recording["dashboardFiles"][0]])
    corrected = {"Times Resumed", "Times Suspended", "Number of Open Files"}
    for ours, theirs in zip(dashboard["panels"], recording["dashboard"]["panels"], strict=True):
        title = theirs["title"].strip()
        assert (ours["title"], ours["type"], ours["gridPos"]) == (title, theirs["type"], theirs["gridPos"])
        if title not in corrected:
            assert [[each["expr"], each["legendFormat"]] for each in ours.get("targets", ())] == theirs["targets"]
    for field in ("editable", "graphTooltip", "refresh", "schemaVersion", "style", "tags", "time", "timezone", "uid"):
        assert dashboard[field] == recording["dashboard"][field]


@pytest.mark.parametrize("recording", [*cases("rsyslog-relp-actuator.jsonl")])
def test_the_same_is_done_with_extensions(recording: Recording) -> None:
    if "Cluster" in {fault["kind"] for fault in recording["faults"]}:
        return  # which we do not read live
    recorded = RecordedExtension(recording)
    admitted = {"create": recorded.is_admitted(None), "update": recorded.is_admitted(recording["old"])}

    plan = recorded.reconcile()

    if begins_to_go(recording):
        admitted["update"] = recording["admitted"]["update"]  # also where a missed status came with it
    assert admitted == recording["admitted"]
    if recording["extension"]["spec"]["type"] != "shoot-rsyslog-relp":
        assert (plan, recorded.writes) == (Plan(), [])  # whatever becomes of others that are never admitted
        return
    error, due = recording["error"] or "", recorded.writes_of_the_reference()
    if error.startswith("error removing annotation") and error.endswith("not found"):
        error, due = "", due[:-1]  # the Extension is gone, so that nothing is left to be done
    if not any(recording["admitted"].values()) and not recorded.writes:
        due = []  # a Shoot that has failed, or no Cluster: the request for a reconciliation is left where it is
    errors = [up_to_cause(each.problem.text) for each in plan.failures]
    assert errors == ([up_to_cause(error)] if error else [])
    assert (plan.requeue_after or 0) == recording["requeueAfter"]
    assert recorded.writes == due
    if due:
        assert without_times(recorded.extension) == without_times(recording["after"])
    assert recorded.deployed() == recorded.deployed_by_the_reference()


def begins_to_go(recording: Recording) -> bool:
    """Whether the update event is the one by which the deletion begins."""
    old, new = ((recording[each] or {}).get("metadata", {}) for each in ("old", "extension"))
    return "deletionTimestamp" in new and "deletionTimestamp" not in old


def without_times(manifest: Any) -> Any:
    if isinstance(manifest, Mapping):
        kept = {name: without_times(value) for name, value in manifest.items() if name != "lastUpdateTime"}
        return {name: value for name, value in kept.items() if (name, value) != ("annotations", {})}
    return manifest
