"""Recorded reviews that no API server can have sent."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.entrypoints.command_line import Hedgerow

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "web"}]}}
COMPLETE = {
    "uid": "x",
    "kind": {"group": "", "version": "v1", "kind": "Pod"},
    "resource": {"group": "", "version": "v1", "resource": "pods"},
    "operation": "CREATE",
    "namespace": "shop",
    "name": "web",
    "object": POD,
}
DEFINITION = {
    "uid": "y",
    "kind": {"group": "apiextensions.k8s.io", "version": "v1", "kind": "CustomResourceDefinition"},
    "resource": {"group": "apiextensions.k8s.io", "version": "v1", "resource": "customresourcedefinitions"},
    "operation": "DELETE",
    "name": "backups.example.org",
}


def recorded(*requests: Any) -> str:
    return "---\n".join(
        f"{json.dumps({'apiVersion': 'admission.k8s.io/v1', 'kind': 'AdmissionReview', 'request': request})}\n"
        for request in requests
    )


@pytest.mark.parametrize(
    ("request_", "sentences"),
    [
        (
            {"uid": "x", "operation": "CREATE"},
            ["request.kind: is missing", "request.resource: is missing", "request.object: is missing"],
        ),
        (COMPLETE | {"kind": {"kind": "Pod"}}, ["request.kind.version: is missing"]),
        (COMPLETE | {"resource": {"version": "v1"}}, ["request.resource.resource: is missing"]),
        (COMPLETE | {"operation": "FOO"}, ["request.operation: must be CREATE, UPDATE, DELETE or CONNECT"]),
        (COMPLETE | {"operation": None}, ["request.operation: is missing"]),
        (COMPLETE | {"object": []}, ["request.object: expected an object, got a list"]),
        (COMPLETE | {"operation": "UPDATE"}, ["request.oldObject: is missing"]),
        (
            COMPLETE | {"operation": "UPDATE", "oldObject": 5},
            ["request.oldObject: expected an object, got an integer"],
        ),
        (DEFINITION | {"oldObject": "all"}, ["request.oldObject: expected an object, got a string"]),
    ],
    ids=[
        "nothing",
        "no-version",
        "no-resource",
        "unknown-operation",
        "no-operation",
        "no-object",
        "no-old-object",
        "unreadable-old-object",
        "unreadable-deleted-object",
    ],
)
@pytest.mark.parametrize("who", ["--all", "seccomp-profile"])
def test_what_no_api_server_has_sent_is_an_error_and_does_not_pass(
    who: str, request_: dict[str, Any], sentences: list[str], hedgerow: Hedgerow, folder: Path
) -> None:
    (folder / "reviews.yaml").write_text(recorded(COMPLETE, request_))

    assert hedgerow("review", who, "-f", "reviews.yaml") == (
        1,
        "",
        "".join(f"error: reviews.yaml:2: AdmissionReview: {sentence}\n" for sentence in sentences),
    )


def test_reviews_as_api_servers_send_them_are_reviewed(hedgerow: Hedgerow) -> None:
    """Not every deletion shows what goes, and whoever connects to a pod sends options or nothing."""
    connected = COMPLETE | {"operation": "CONNECT", "object": None, "subResource": "exec"}

    ended = hedgerow("review", "seccomp-profile", "-f", "-", "-o", "table", stdin=recorded(COMPLETE, connected))
    deleted = hedgerow("review", "crd-deletion-protection", "-f", "-", stdin=recorded(DEFINITION))

    assert (ended.code, ended.out.count("seccomp-profile")) == (2, 1)
    assert deleted.code != 1


@pytest.mark.parametrize(
    ("old", "warnings"),
    [("web", []), ("db", ["old.yaml:1: Pod shop/db: no object to review is a newer version of it"])],
)
def test_older_objects_do_not_count_for_reviews_which_hold_their_own(
    old: str, warnings: list[str], hedgerow: Hedgerow, folder: Path
) -> None:
    (folder / "old.yaml").write_text(json.dumps(POD | {"metadata": {"name": old, "namespace": "shop"}}))

    ended = hedgerow("review", "seccomp-profile", "-f", "-", "--old", "old.yaml", stdin=recorded(COMPLETE))

    assert [line.removeprefix("warning: ") for line in ended.err.splitlines() if line.startswith("warning: ")] == [
        "--old does not count for AdmissionReviews, which hold the older objects themselves",
        *warnings,
    ]
