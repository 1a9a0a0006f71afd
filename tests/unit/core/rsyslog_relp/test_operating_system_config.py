from base64 import b64decode
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hedgerow.admission import Allowed, Decision, Denied, Mutated
from hedgerow.admission.request import creation, deletion
from hedgerow.api.gardener import CLUSTERS, EXTENSIONS, OPERATING_SYSTEM_CONFIGS
from hedgerow.api.kubernetes import SECRETS
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.questions import Answer, NotAnswered, Question
from hedgerow.rsyslog_relp.config import RsyslogRelpConfig
from hedgerow.rsyslog_relp.naming import TYPE, UNIT
from hedgerow.rsyslog_relp.operating_system_config import (
    operating_system_config_webhook,
    shoot_identity,
    with_node_files,
)
from tests.unit.core.admission.world import answered, decided, reviewed, told, world
from tests.unit.core.rsyslog_relp.configs import SHOOT, plain, secured, valid_configs

NAMESPACE = "shoot--bar--foo"
WEBHOOK = operating_system_config_webhook()
DIRECTORY = "/var/lib/rsyslog-relp-configurator"
FOREIGN_FILE = {"path": "/var/lib/foo.sh"}
FOREIGN_UNIT = {"name": "foo.service"}
RULES = ("00-base-config", "10-privilege-escalation", "11-privileged-special", "12-system-integrity")
OWN_PATHS = [
    f"{DIRECTORY}/rsyslog.d/60-audit.conf",
    f"{DIRECTORY}/configure-rsyslog.sh",
    f"{DIRECTORY}/process-rsyslog-pstats.sh",
    *(f"{DIRECTORY}/rules.d/{name}.rules" for name in RULES),
]
TLS_PATHS = [f"{DIRECTORY}/tls/{name}" for name in ("ca.crt", "tls.crt", "tls.key")]
NO_REFERENCE = "tls.secretReferenceName: Required value: secretReferenceName must not be empty when tls is enabled"
REFERENCE = {"name": "rsyslog-tls", "resourceRef": {"kind": "Secret", "name": "tls-v2"}}


def osc(
    purpose: Any = "reconcile", *, files: Any = (FOREIGN_FILE,), units: Any = (FOREIGN_UNIT,), **metadata: Any
) -> Manifest:
    return {
        "apiVersion": OPERATING_SYSTEM_CONFIGS.api_version,
        "kind": OPERATING_SYSTEM_CONFIGS.kind,
        "metadata": {"name": "worker", "namespace": NAMESPACE, **metadata},
        "spec": {"purpose": purpose, "files": files if files == {} else [*files], "units": [*units]},
    }


def cluster(*resources: Any, **metadata: Any) -> Manifest:
    shoot = {"metadata": {"name": "foo", "uid": "uid", **metadata}, "spec": {"resources": [*resources]}}
    return {
        "apiVersion": CLUSTERS.api_version,
        "kind": CLUSTERS.kind,
        "metadata": {"name": NAMESPACE},
        "spec": {"shoot": shoot},
    }


def extension(config: Any) -> Manifest:
    return {
        "apiVersion": EXTENSIONS.api_version,
        "kind": EXTENSIONS.kind,
        "metadata": {"name": TYPE, "namespace": NAMESPACE},
        "spec": {"type": TYPE, "providerConfig": config},
    }


def secret(*keys: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": SECRETS.kind,
        "metadata": {"name": "ref-tls-v2", "namespace": NAMESPACE},
        "data": dict.fromkeys(keys, ""),
    }


def decision(subject: Manifest, *objects: Manifest) -> Decision:
    return decided(WEBHOOK, creation(OPERATING_SYSTEM_CONFIGS, subject), *objects)


def changed(subject: Manifest, *objects: Manifest) -> Mapping[str, Any]:
    made = decision(subject, *objects)
    assert isinstance(made, Mutated)
    spec: Mapping[str, Any] = made.object["spec"]
    return spec


def message(subject: Manifest, *objects: Manifest) -> str:
    made = decision(subject, *objects)
    assert isinstance(made, Denied)
    assert made.code == 422
    return made.message


def test_files_and_a_unit_are_added_behind_those_of_others() -> None:
    spec = changed(osc(), cluster(), extension(plain()))

    assert [each["path"] for each in spec["files"]] == ["/var/lib/foo.sh", *OWN_PATHS]
    assert [each.get("permissions") for each in spec["files"]] == [None, *[0o744] * 7]
    unit = spec["units"][1]
    assert spec["units"][0] == FOREIGN_UNIT
    assert (unit["name"], unit["command"], unit["enable"]) == (UNIT, "start", True)
    configuration = b64decode(spec["files"][1]["content"]["inline"]["data"]).decode()
    assert all(f'constant(value="{value}")' in configuration for value in ("bar", "foo", "uid"))


def test_with_tls_files_refer_to_the_copied_secret() -> None:
    spec = changed(osc(), cluster(REFERENCE), extension(secured()), secret("ca", "crt", "key"))

    assert [each["path"] for each in spec["files"]] == ["/var/lib/foo.sh", *TLS_PATHS, *OWN_PATHS]
    assert spec["files"][1:4] == [
        {"path": path, "permissions": 0o600, "content": {"secretRef": {"name": "ref-tls-v2", "dataKey": key}}}
        for path, key in zip(TLS_PATHS, ("ca", "crt", "key"), strict=True)
    ]


def test_own_entries_are_replaced_where_they_are() -> None:
    old = {"path": OWN_PATHS[1], "content": {"inline": {"data": "old"}}}
    subject = osc(files=[FOREIGN_FILE, 1, old, {"path": "/z"}], units=[{"name": UNIT, "content": "old"}, FOREIGN_UNIT])

    spec = changed(subject, cluster(), extension(plain()))

    others = [path for path in OWN_PATHS if path != OWN_PATHS[1]]
    foreign, unreadable, own, *rest = spec["files"]
    assert (foreign, unreadable) == (FOREIGN_FILE, 1)
    assert [each["path"] for each in (own, *rest)] == [OWN_PATHS[1], "/z", *others]
    assert own != old
    assert [each["name"] for each in spec["units"]] == [UNIT, "foo.service"]


def test_what_is_as_wanted_is_not_patched() -> None:
    spec = changed(osc(), cluster(), extension(plain()))

    assert decision(osc(files=spec["files"], units=spec["units"]), cluster(), extension(plain())) == Allowed()


@pytest.mark.parametrize("subject", [osc("provision"), osc(deletionTimestamp="2026-01-01T00:00:00Z")])
def test_others_are_none_of_its_business(subject: Manifest) -> None:
    assert decision(subject) == Allowed()


def test_a_deletion_is_allowed() -> None:
    assert decided(WEBHOOK, deletion(OPERATING_SYSTEM_CONFIGS, osc())) == Allowed()


def test_a_shoot_in_deletion_gets_nothing() -> None:
    assert decision(osc(), cluster(deletionTimestamp="2026-01-01T00:00:00Z")) == Allowed()


def test_without_a_shoot_nothing_is_decided() -> None:
    assert message(osc()).startswith(f"could not get cluster for namespace '{NAMESPACE}': ")
    assert message(osc(), {**cluster(), "spec": {}}) == "cluster.shoot is not yet populated"
    assert message(osc(), cluster()).startswith(f"failed to get extension '{NAMESPACE}/{TYPE}': ")


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (None, "failed to decode provider config: provider config is required"),
        (plain(port="x"), "failed to decode provider config: port: expected an integer of 64 bits, got a string"),
        (plain(target=""), "target: Required value: target must not be empty"),
        (secured(secretReferenceName=None), NO_REFERENCE),
    ],
)
def test_an_invalid_configuration_is_denied(config: Any, problem: str) -> None:
    assert message(osc(), cluster(), extension(config)) == problem


def test_an_unknown_field_does_no_harm() -> None:
    assert isinstance(decision(osc(), cluster(), extension(plain(other=1))), Mutated)


@pytest.mark.parametrize(
    "resources",
    [(), ({"name": "rsyslog-tls", "resourceRef": {"kind": "ConfigMap", "name": "x"}},), ({"name": "other"},)],
)
def test_a_reference_has_to_name_a_secret(resources: tuple[Any, ...]) -> None:
    problem = "failed to find referenced resource with name rsyslog-tls and kind Secret"

    assert message(osc(), cluster(*resources), extension(secured())) == problem


def test_the_secret_has_to_be_there_and_to_hold_three_values() -> None:
    world = (cluster(REFERENCE), extension(secured()))
    failed = "referenced secret is not valid: "

    assert message(osc(), *world) == (f"{failed}failed to read referenced secret ref-tls-v2 for reference rsyslog-tls")
    assert message(osc(), *world, secret("ca")) == f"{failed}secret {NAMESPACE}/ref-tls-v2 is missing crt value"
    assert message(osc(), *world, secret("ca", "crt", "key", "x")) == (
        f"{failed}secret {NAMESPACE}/ref-tls-v2 should have only three data entries"
    )


def test_what_caches_show_is_not_read_live_but_certificates_are() -> None:
    objects = (cluster(REFERENCE), extension(secured()), secret("ca", "crt", "key"))
    asked = creation(OPERATING_SYSTEM_CONFIGS, osc())

    def live(question: Question) -> Answer:
        return answered(question, objects)

    from_caches, questions = reviewed(WEBHOOK, asked, world(WEBHOOK, *objects), live)
    assert [question.resource for question in questions] == [SECRETS]

    from_server, questions = reviewed(WEBHOOK, asked, world(WEBHOOK), live)
    assert [question.resource for question in questions] == [CLUSTERS, EXTENSIONS, SECRETS]
    assert isinstance(from_caches, Mutated)
    assert from_server == from_caches


def test_what_cannot_be_read_is_undecided() -> None:
    made, _ = told(WEBHOOK, creation(OPERATING_SYSTEM_CONFIGS, osc()), NotAnswered(500, "", "away"))

    assert isinstance(made, Denied)
    assert made.is_undecided
    assert made.message == f"could not get cluster for namespace '{NAMESPACE}': away"


@pytest.mark.parametrize("subject", [{"kind": "Pod"}, osc(files={}), osc(1)])
def test_what_is_no_operating_system_config_is_a_bad_request(subject: Manifest) -> None:
    made = decided(WEBHOOK, creation(OPERATING_SYSTEM_CONFIGS, subject), cluster(), extension(plain()))

    assert isinstance(made, Denied)
    assert made.code == 400


@pytest.mark.parametrize(
    ("namespace", "name", "project"),
    [("shoot--bar--foo", "foo", "bar"), ("shoot-foo-bar", "bar", "foo"), ("shoot--a-b--c", "c", "a-b")],
)
def test_the_project_stands_in_the_namespace(namespace: str, name: str, project: str) -> None:
    assert shoot_identity(namespace, {"metadata": {"name": name}}).project == project


_entries = some.lists(some.sampled_from([*OWN_PATHS, *TLS_PATHS, "/a", "/b"]).map(lambda path: {"path": path, "x": 1}))


@given(config=valid_configs, files=_entries)
def test_twice_is_once_and_foreign_entries_stay_in_their_order(
    config: RsyslogRelpConfig, files: list[Mapping[str, Any]]
) -> None:
    secret_name = "ref-x" if config.active_tls else None
    once = with_node_files(osc(files=files), config, SHOOT, secret_name)
    own = {*OWN_PATHS, *(TLS_PATHS if secret_name else ())}

    assert with_node_files(once, config, SHOOT, secret_name) is once
    after = [each["path"] for each in once["spec"]["files"]]
    assert [path for path in after if path not in own] == [each["path"] for each in files if each["path"] not in own]
    assert own <= {*after}
    assert len(after) == len(files) + len(own - {each["path"] for each in files})
