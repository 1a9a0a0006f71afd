"""`hedgerow review`, and `hedgerow plan`, with a component that is not the resource manager."""

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from hedgerow_entrypoints.cli.review.panels import readable
from tests.unit.entrypoints.command_line import Hedgerow

REPOSITORY = "examples/rsyslog-relp"
EXAMPLE = f"{REPOSITORY}/review"
ODD = """\
apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata: {name: web, namespace: garden-core}
spec:
  extensions:
  - type: shoot-rsyslog-relp
    providerConfig:
      apiVersion: rsyslog-relp.extensions.gardener.cloud/v1alpha1
      kind: RsyslogRelpConfig
      target: logs.example.com
      port: 2514
      loggingRules: [{severity: 3}]
      tls: {enabled: false, authMode: name}
"""
OSC = {"spec": {"files": [{"path": "a", "content": {"inline": {"encoding": "b64", "data": "aGVsbG8="}}}]}}


def test_the_diff_shows_encoded_files_as_texts(hedgerow: Hedgerow, repository: Path) -> None:
    done = hedgerow("review", "operating-system-config", "-f", EXAMPLE)

    assert (done.code, done.err) == (2, "1 changed\n")
    assert '+              target="logs.example.com"\n' in done.out
    assert "+          #!/bin/bash\n" in done.out


def test_webhooks_of_two_components_may_be_asked_together(hedgerow: Hedgerow, repository: Path) -> None:
    named = ("shoot-rsyslog-relp-admission", "operating-system-config", "extension-validation")

    done = hedgerow("review", *named, "-f", EXAMPLE, "-o", "table")

    assert [line.split()[::4] for line in done.out.splitlines()[1:]] == [
        ["unchanged", "shoot-rsyslog-relp-admission"],
        ["unchanged", "extension-validation"],
        ["changed", "operating-system-config"],
        ["unchanged", "extension-validation"],
    ]


def test_a_configuration_decides_for_its_own_component_alone(hedgerow: Hedgerow, repository: Path) -> None:
    named = ("shoot-rsyslog-relp-admission", "operating-system-config", "extension-validation")
    config = f"{REPOSITORY}/process.yaml"

    done = hedgerow("review", *named, "-f", EXAMPLE, "--config", config)
    every = hedgerow("review", "--all", "-f", EXAMPLE, "--config", config, "-o", "table")

    assert [line for line in done.err.splitlines() if "not enabled" in line] == [
        f"note: {config}: shoot-rsyslog-relp-admission is not enabled; it is asked all the same"
    ]
    assert [line.split()[4] for line in every.out.splitlines()[1:]] == ["operating-system-config"]


WARNING = "tls: has no effect, as tls.enabled is not true"
ASKED = "Shoot   garden-core  web     shoot-rsyslog-relp-admission"


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("diff", f"#   warning: {WARNING}"),
        ("table", f"unchanged   {ASKED}  warning: {WARNING}"),
        ("yaml", f"- '{WARNING}'"),
    ],
)
def test_warnings_are_shown(hedgerow: Hedgerow, output: str, line: str) -> None:
    done = hedgerow("review", "shoot-rsyslog-relp-admission", "-f", "-", "-o", output, stdin=ODD)

    assert done.code == 0
    assert line in done.out.splitlines()


def test_without_the_cluster_in_the_files_the_denial_says_what_is_missing(hedgerow: Hedgerow) -> None:
    text = (
        "apiVersion: extensions.gardener.cloud/v1alpha1\nkind: OperatingSystemConfig\n"
        "metadata: {name: worker, namespace: shoot--core--web}\nspec: {purpose: reconcile}\n"
    )

    done = hedgerow("review", "operating-system-config", "-f", "-", "-o", "table", stdin=text)

    assert done.code == 3
    assert "note: Cluster shoot--core--web: no file holds it, so that it counts as missing\n" in done.err


def test_the_controller_tells_of_the_same_secret_as_the_webhook(hedgerow: Hedgerow, repository: Path) -> None:
    case = "tests/golden/admission/nodes-get-no-broken-configuration"
    problem = "ref-rsyslog-tls has a key value that does not belong to the certificate of its crt value"

    planned = hedgerow("plan", "rsyslog-relp", "-f", f"{case}/input.yaml")

    assert f"Error reconciling Extension: secret shoot--core--other-key/{problem}" in planned.out
    assert problem in (repository / case / "decisions.txt").read_text()


def test_encoded_files_are_readable() -> None:
    (file,) = readable(OSC, "operating-system-config")["spec"]["files"]

    assert file["content"] == {"inline": {"encoding": "b64", "data": "hello"}}


@pytest.mark.parametrize(
    "file",
    [
        "text",
        {"path": "a"},
        {"path": "a", "content": {"inline": "text"}},
        {"path": "a", "content": {"inline": {"encoding": "b64"}}},
        {"path": "a", "content": {"inline": {"encoding": "b64", "data": 5}}},
        {"path": "a", "content": {"inline": {"encoding": "b64", "data": "no base64"}}},
        {"path": "a", "content": {"inline": {"encoding": "b64", "data": b64encode(b"\xff").decode()}}},
        {"path": "a", "content": {"inline": {"encoding": "", "data": "aGVsbG8="}}},
    ],
)
def test_what_is_no_encoded_text_is_shown_as_it_is_written(file: Any) -> None:
    osc = {"spec": {"files": [file]}}

    assert readable(osc, "operating-system-config") == osc
    assert readable({"spec": {"files": file}}, "operating-system-config") == {"spec": {"files": file}}


def test_objects_of_other_webhooks_are_shown_as_they_are() -> None:
    assert readable(OSC, "extension-validation") is OSC


def test_types_are_held_against_registrations_only_where_files_hold_some(hedgerow: Hedgerow, repository: Path) -> None:
    registration = "apiVersion: core.gardener.cloud/v1beta1\nkind: ControllerRegistration\nmetadata: {name: other}\n"
    note = "note: no file holds a ControllerRegistration: registered-types is left out\n"

    without = hedgerow("review", "--all", "-f", EXAMPLE, "-o", "table")
    beside = hedgerow("review", "--all", "-f", EXAMPLE, "-f", "-", "-o", "table", stdin=registration)
    named = hedgerow("review", "registered-types", "-f", EXAMPLE)

    assert (without.code, without.err.count(note)) == (2, 1)
    assert "unchanged   Shoot" in without.out
    assert (beside.code, beside.err.count(note)) == (3, 0)
    assert "uses non-registered Extension type" in beside.out
    assert (named.code, named.err.count(note)) == (3, 0)


def test_what_nobody_would_be_asked_about_is_not_left_out(hedgerow: Hedgerow) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\n"

    assert "registered-types" not in hedgerow("review", "--all", "-f", "-", stdin=pod).err
