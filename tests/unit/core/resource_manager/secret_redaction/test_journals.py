"""What a record shows of journals: tokens that are like what nobody may read in all that decisions read."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure

from hedgerow.api.kubernetes import LAST_APPLIED, SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.registrations import CONTROLLER_DEPLOYMENTS, CONTROLLER_REGISTRATIONS
from hedgerow.machinery.charts import RenderChart, RenderedFile, RenderError
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.documents.budget import ReadingBudget
from hedgerow.machinery.documents.streams import stream_documents
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import ApiError, Cause, Create, InOrder, MergePatch, Plan
from hedgerow.machinery.questions import Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.recording.journal import Lookup, Part, WriteReply
from hedgerow.machinery.steps import AtOnce, Pause, Step
from hedgerow.resource_manager.managed_resources.decoding import Checksum, decoded_secret, decompressed
from hedgerow.resource_manager.managed_resources.desired import checked_values
from hedgerow.resource_manager.secret_redaction import Compression, Fingerprints, SecretRedaction, journals
from hedgerow.resource_manager.secret_redaction.fingerprints import is_manifest, shown_kubeconfig
from hedgerow.resource_manager.token_requests.kubeconfig import read_kubeconfig
from hedgerow_adapters.compression import brotli_compressed, brotli_decompressed

KEY = ObjectKey("shop", "key")
SERVICE_ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount")
FINGERPRINTS = Fingerprints(b"a key")
PASSWORD = "hunter2"  # noqa: S105 -- a sample
SHOWN = FINGERPRINTS.of_text(PASSWORD)


def encoded(text: str | bytes) -> str:
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


def redaction() -> SecretRedaction:
    return SecretRedaction(FINGERPRINTS, Compression(brotli_decompressed, brotli_compressed))


def secret(data: dict[str, Any] | None = None, **members: Any) -> dict[str, Any]:
    metadata = {"namespace": KEY.namespace, "name": KEY.name, **members.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data or {}, **members}


def read(resource: Resource, cluster: Cluster, manifest: dict[str, Any]) -> Part:
    return Part({Lookup("get", resource, cluster, key_of(manifest)): manifest})


def answered(cluster: Cluster, manifest: dict[str, Any]) -> Part:
    return Part(wants=ObjectQuestion(SECRETS, key_of(manifest), cluster), reply=Found((manifest,)))


def read_in(part: Part) -> Any:
    (answer,) = part.reads.values()
    return answer


def shown(manifest: dict[str, Any], resource: Resource = SECRETS, cluster: Cluster = Cluster.TARGET) -> Any:
    (part,) = redaction().redacted([read(resource, cluster, manifest)])
    return read_in(part)


def value_shown(value: Any) -> Any:
    return shown(secret({"a": value}))["data"]["a"]


def test_a_fingerprint_is_the_same_for_the_same_and_tells_nothing_without_its_key() -> None:
    assert FINGERPRINTS.of_text(PASSWORD) == Fingerprints(b"a key").of(PASSWORD.encode())
    assert FINGERPRINTS.of_text(PASSWORD) != Fingerprints(b"another key").of_text(PASSWORD)
    assert FINGERPRINTS.of_text("") == ""


@given(st.binary(min_size=1, max_size=40), st.binary(min_size=1, max_size=40))
def test_values_are_shown_alike_if_and_only_if_they_are(one: bytes, other: bytes) -> None:
    assert (value_shown(encoded(one)) == value_shown(encoded(other))) == (one == other)
    assert base64.b64decode(value_shown(encoded(one)), validate=True)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (encoded(PASSWORD), encoded(SHOWN)),
        (encoded(PASSWORD)[:4] + "\n" + encoded(PASSWORD)[4:], encoded(SHOWN)),
        (PASSWORD, FINGERPRINTS.of_text(PASSWORD)),
        ("", ""),
        (None, None),
        (7, FINGERPRINTS.of_text("7")),
        ([PASSWORD], [SHOWN]),
    ],
    ids=["base64", "base64 in lines", "no base64", "empty", "null", "a number", "a list"],
)
def test_a_value_is_shown_as_what_it_is(value: Any, expected: Any) -> None:
    assert value_shown(value) == expected


def test_a_text_and_the_same_in_base64_are_shown_alike() -> None:
    assert shown({**secret(), "stringData": {"a": PASSWORD}})["stringData"] == {"a": SHOWN}


def test_of_a_secret_is_shown_what_every_secret_has() -> None:
    annotations = {
        "kubectl.kubernetes.io/last-applied-configuration": PASSWORD,
        "resources.gardener.cloud/mode": "Ignore",
        "objectset.rio.cattle.io/applied": PASSWORD,
    }
    manifest = secret(type="Opaque", immutable=True, dataa={"a": PASSWORD}, metadata={"annotations": annotations})

    assert shown(manifest) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "immutable": True,
        "data": {},
        "dataa": {FINGERPRINTS.of_text("a"): SHOWN},
        "metadata": {
            "namespace": KEY.namespace,
            "name": KEY.name,
            "annotations": {**dict.fromkeys(annotations, SHOWN), "resources.gardener.cloud/mode": "Ignore"},
        },
    }


def test_a_secret_in_another_object_is_found_and_one_that_is_named_is_left_alone() -> None:
    named = {"kind": "Secret", "name": "a", "annotations": {"a": PASSWORD}, "labels": {"b": "c"}}
    manifest = {"kind": "List", "items": [secret({"a": encoded(PASSWORD)})], "refs": [named], "other": {"data": "open"}}
    manifest["unnamed"] = {"kind": "SecretList", "items": [{"data": {"a": encoded(PASSWORD)}}, PASSWORD]}

    found = shown(manifest, Resource("", "v1", "lists", "List"))

    assert found["items"][0]["data"] == {"a": encoded(SHOWN)}
    assert found["unnamed"]["items"] == [{"data": {"a": encoded(SHOWN)}}, SHOWN]
    assert found["refs"] == [{**named, "annotations": {"a": SHOWN}}]
    assert found["other"] is manifest["other"]


KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "here",
    "clusters": [
        {"name": "c", "cluster": {"server": "https://x", "certificate-authority-data": "Q0E=", "proxy-url": PASSWORD}},
        {"name": "p", "cluster": {"server": f"https://me:{PASSWORD}@x"}},
    ],
    "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "n", "more": PASSWORD}}],
    "users": [
        {"name": "u", "user": {"token": PASSWORD, "client-key-data": PASSWORD, "exec": {"env": [{"value": PASSWORD}]}}},
        PASSWORD,
        {"name": "v", "user": PASSWORD},
    ],
    "extensions": [{"name": PASSWORD}],
}


def test_of_a_kubeconfig_is_shown_who_and_where_and_no_credential() -> None:
    found = shown_kubeconfig(KUBECONFIG, FINGERPRINTS)

    assert PASSWORD not in json.dumps(found)
    assert found["clusters"][0]["cluster"] == {
        "server": "https://x",
        "certificate-authority-data": "Q0E=",
        "proxy-url": SHOWN,
    }
    assert found["contexts"] == [
        {"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "n", "more": SHOWN}}
    ]
    assert [each["name"] for each in found["users"] if isinstance(each, dict)] == ["u", "v"]


def test_who_reads_tokens_of_kubeconfigs_reads_fingerprints() -> None:
    kubeconfig = {**KUBECONFIG, "users": KUBECONFIG["users"][:1]}

    raw = base64.b64decode(value_shown(encoded(json.dumps(kubeconfig))))

    assert read_kubeconfig(raw).unwrap().token == SHOWN
    assert isinstance(read_kubeconfig(base64.b64decode(value_shown(encoded(f"users: {PASSWORD}")))), Failure)


def managed(checksum: str = "", *names: str) -> dict[str, Any]:
    return {
        "kind": "ManagedResource",
        "metadata": {"namespace": KEY.namespace, "name": "managed"},
        "spec": {"secretRefs": [{"name": each} for each in names or [KEY.name]]},
        "status": {"secretsDataChecksum": checksum},
    }


def held(text: str | bytes, name: str = "objects.yaml") -> bytes:
    """What is shown of a value of a Secret that a ManagedResource refers to."""
    told = [
        read(MANAGED_RESOURCES, Cluster.SOURCE, managed()),
        answered(Cluster.SOURCE, secret({name: encoded(text)})),
    ]
    _, part = redaction().redacted(told)
    return base64.b64decode(part.reply.objects[0]["data"][name])


MANIFESTS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(st.characters(codec="utf-8"), max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=5,
).map(lambda content: {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": content})


@given(st.lists(MANIFESTS, min_size=1, max_size=3))
def test_manifests_in_a_secret_stay_readable(manifests: list[dict[str, Any]]) -> None:
    text = "".join(f"---\n{json.dumps(each)}\n" for each in manifests)

    for name, raw in (("a.yaml", held(text)), ("a.yaml.br", held(brotli_compressed(text.encode()), "a.yaml.br"))):
        content = decompressed(raw, brotli_decompressed, ReadingBudget()).unwrap() if name.endswith(".br") else raw
        assert [each.value for each in stream_documents(content.decode())] == manifests


def test_what_cannot_be_decoded_can_not_be_decoded_as_it_is_shown_and_the_rest_can() -> None:
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    text = f"a: [{PASSWORD}\n---\n# nothing\n---\n{json.dumps(config_map)}\n---\n- {PASSWORD}\n---\nb: {PASSWORD}\n"

    before, after = stream_documents(text), stream_documents(held(text).decode())

    assert [bool(each.problems) for each in after] == [bool(each.problems) for each in before]
    assert [each.value for each in after[:4]] == [None, None, config_map, None]
    assert [*after[4].value] == ["noManifest"]
    assert PASSWORD not in str(after)


def test_what_cannot_be_decompressed_is_a_fingerprint() -> None:
    shown = held(f"not compressed: {PASSWORD}", "a.yaml.br")

    assert shown.decode() == FINGERPRINTS.of_text(f"not compressed: {PASSWORD}")


def test_a_kubeconfig_beside_manifests_is_shown_without_its_credentials() -> None:
    kubeconfig = {**KUBECONFIG, "users": KUBECONFIG["users"][:1]}

    assert read_kubeconfig(held(json.dumps(kubeconfig))).unwrap().token == SHOWN


def test_what_holds_no_manifests_though_others_do_is_not_shown() -> None:
    manifest = secret({"a": encoded(json.dumps({"kind": "ConfigMap", "data": PASSWORD}))})
    other = {**manifest, "metadata": {"namespace": KEY.namespace, "name": "other"}}
    managed_by = read(MANAGED_RESOURCES, Cluster.SOURCE, managed())
    for cluster, each in ((Cluster.TARGET, manifest), (Cluster.SOURCE, other)):
        _, part = redaction().redacted([managed_by, answered(cluster, each)])
        raw = base64.b64decode(part.reply.objects[0]["data"]["a"])
        assert raw.startswith(b"fingerprint-")


def told_of(step: Step[Any], told: Any) -> Any:
    (part,) = redaction().redacted([Part(wants=step, reply=told)])
    assert part.wants is step, "it is compared with what the shadow run wants, and never recorded"
    return part.reply


def test_a_token_that_was_granted_is_not_shown() -> None:
    asked = Create(SERVICE_ACCOUNTS, {"kind": "TokenRequest", "metadata": {"name": "a"}}, "due", subresource="token")
    granted = {"status": {"token": PASSWORD, "expirationTimestamp": "2026-01-01T00:00:00Z"}}

    told = told_of(asked, WriteReply(granted, None))

    assert told.stored == {"status": {"token": SHOWN, "expirationTimestamp": "2026-01-01T00:00:00Z"}}


def deployed(provider_config: Any) -> dict[str, Any]:
    metadata = {"name": "os"}
    return {"metadata": metadata, "spec": {"deployment": {"type": "helm", "providerConfig": provider_config}}}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            {"chart": encoded(b"\x1f\x8b"), "values": {"password": PASSWORD, "on": True}},
            {"chart": encoded(FINGERPRINTS.of(b"\x1f\x8b")), "values": {"password": SHOWN, "on": True}},
        ),
        ({"chart": f"%{PASSWORD}"}, {"chart": FINGERPRINTS.of_text(f"%{PASSWORD}")}),
        ([PASSWORD], [SHOWN]),
        (None, None),
    ],
    ids=["chart", "no base64", "list", "null"],
)
def test_charts_and_their_values_are_not_shown(config: Any, expected: Any) -> None:
    registration, deployment = deployed(config), {"metadata": {"name": "os"}, "providerConfig": config}

    assert shown(registration, CONTROLLER_REGISTRATIONS) == deployed(expected)
    assert shown(deployment, CONTROLLER_DEPLOYMENTS) == {**deployment, "providerConfig": expected}


@pytest.mark.parametrize("resource", [CONTROLLER_REGISTRATIONS, CONTROLLER_DEPLOYMENTS])
def test_the_copy_that_kubectl_keeps_of_a_chart_and_its_values_is_not_shown(resource: Resource) -> None:
    copy = json.dumps({"providerConfig": {"values": {"password": PASSWORD}}})
    annotations = {LAST_APPLIED: copy, "security.gardener.cloud/pod-security-enforce": "baseline"}

    metadata = shown({"metadata": {"name": "os", "annotations": annotations}}, resource)["metadata"]

    assert metadata == {"name": "os", "annotations": {**annotations, LAST_APPLIED: FINGERPRINTS.of_text(copy)}}


def test_a_registration_that_is_none_is_shown_as_it_is() -> None:
    assert shown({"metadata": {"name": "os"}, "spec": "x"}, CONTROLLER_REGISTRATIONS)["spec"] == "x"


CHART = RenderChart(b"chart", "os", "extension-os", {"password": PASSWORD}, "v1.29.4")


def test_what_a_chart_renders_to_is_shown_without_the_values_of_secrets() -> None:
    config_map = {"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "b"}}

    told = told_of(CHART, (RenderedFile("a.yaml", (config_map, secret({"a": encoded(PASSWORD)}))),))

    assert told == (RenderedFile("a.yaml", (config_map, secret({"a": encoded(SHOWN)}))),)


def test_why_a_chart_is_not_rendered_is_not_shown_as_it_may_quote_values() -> None:
    error = RenderError("chart", f"no {PASSWORD}")

    assert told_of(AtOnce((Pause(), CHART)), (None, error))[1] == RenderError(
        "chart", FINGERPRINTS.of_text(error.message)
    )
    assert told_of(CHART, None) is None


STORED = secret({"a": encoded(PASSWORD)})
REFUSAL = ApiError(422, "Invalid", f"may not be {PASSWORD}", (Cause("x", f"not {PASSWORD}", "data"),))
CAUSE_SHOWN = FINGERPRINTS.of_text(f"not {PASSWORD}")
WRITE = MergePatch(SECRETS, KEY, {}, "why")


@pytest.mark.parametrize(
    ("step", "wrap"),
    [
        (WRITE, lambda told: told),
        (InOrder((WRITE, WRITE)), lambda told: (told,)),
        (AtOnce((Pause(), WRITE)), lambda told: (None, told)),
    ],
    ids=["alone", "in order", "at once"],
)
def test_what_servers_say_of_written_secrets_is_not_shown(step: Step[Any], wrap: Callable[[WriteReply], Any]) -> None:
    told = told_of(step, wrap(WriteReply(STORED, REFUSAL)))

    assert PASSWORD not in str(told)
    assert encoded(PASSWORD) not in str(told)
    assert told == wrap(
        WriteReply(
            secret({"a": encoded(SHOWN)}),
            ApiError(422, "Invalid", FINGERPRINTS.of_text(REFUSAL.message), (Cause("x", CAUSE_SHOWN, "data"),)),
        )
    )


@pytest.mark.parametrize(
    "part",
    [
        Part(wants=WRITE, reply=WriteReply(None, ApiError(409, "Conflict", "the object has been modified"))),
        Part(wants=ObjectQuestion(SECRETS, KEY, Cluster.SOURCE), reply=NotAnswered(404, "NotFound", "not found")),
        Part(wants=WRITE),
        Part(wants=InOrder((WRITE,))),
        Part(wants=Plan()),
        Part({Lookup("has_synced", SECRETS, Cluster.SOURCE): True, Lookup("get", SECRETS, Cluster.SOURCE, KEY): None}),
        read(SECRETS, Cluster.SOURCE, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "uid": "b"}}),
        read(MANAGED_RESOURCES, Cluster.SOURCE, {"metadata": {"name": "a"}, "spec": {"class": "b"}}),
    ],
)
def test_what_tells_nothing_of_secrets_stays_equal(part: Part) -> None:
    assert redaction().redacted([part]) == (part,)


def test_a_checksum_that_is_not_known_is_not_shown_either() -> None:
    found = shown(managed("ab" * 32), MANAGED_RESOURCES, Cluster.SOURCE)

    assert found["status"]["secretsDataChecksum"] == FINGERPRINTS.of_checksum("ab" * 32)
    assert len(found["status"]["secretsDataChecksum"]) == 64


def test_a_checksum_is_shown_as_that_of_what_is_shown() -> None:
    outer = secret({"objects.yaml": encoded(json.dumps(secret({"a": encoded(PASSWORD)})))})

    def checksum(manifest: Manifest) -> str:
        decoded = decoded_secret(manifest, brotli_decompressed)
        found = Checksum(checked_values(decoded)).computed_at_once()
        assert found is not None
        return found

    first = read(MANAGED_RESOURCES, Cluster.SOURCE, managed(checksum(outer)))

    before, answer = redaction().redacted([first, answered(Cluster.SOURCE, outer)])

    assert read_in(before)["status"]["secretsDataChecksum"] == checksum(answer.reply.objects[0])


def test_secrets_without_a_checksum_are_shown_all_the_same() -> None:
    """No API server stores such data."""
    manifest = secret({"a": [PASSWORD]})

    _, part = redaction().redacted(
        [read(MANAGED_RESOURCES, Cluster.SOURCE, managed()), answered(Cluster.SOURCE, {**manifest, "data": [PASSWORD]})]
    )

    assert part.reply == Found(({**manifest, "data": [SHOWN]},))


@pytest.mark.parametrize("member", ["metadata", "stringData"])
def test_a_member_of_another_shape_is_not_shown(member: str) -> None:
    inner = {"kind": "Secret", "metadata": {}, member: [PASSWORD]}

    assert shown({"metadata": {}, "items": [inner]}, Resource("", "v1", "lists", "List"))["items"][0][member] == [SHOWN]


def test_a_text_that_is_none_is_not_shown() -> None:
    assert shown({**secret(), "stringData": {"a": [PASSWORD]}})["stringData"] == {"a": [SHOWN]}


def test_a_request_for_a_token_without_a_status_is_shown() -> None:
    asked = Create(SERVICE_ACCOUNTS, {"kind": "TokenRequest", "metadata": {"name": "a"}}, "due", subresource="token")

    assert told_of(asked, WriteReply({"status": None}, None)).stored == {"status": None}


def test_the_oldest_checksums_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journals, "_MOST_CHECKSUMS", 1)
    run = redaction()

    def known(text: str) -> bool:
        outer = secret({"a.yaml": encoded(json.dumps({**secret({"a": encoded(text)})}))})
        found = Checksum(checked_values(decoded_secret(outer, brotli_decompressed))).computed_at_once() or ""
        holder = read(MANAGED_RESOURCES, Cluster.SOURCE, managed(found))
        before, _ = run.redacted([holder, Part()])
        run.redacted([holder, answered(Cluster.SOURCE, outer)])
        return bool(read_in(before)["status"]["secretsDataChecksum"] != FINGERPRINTS.of_checksum(found))

    assert [known(text) for text in ("one", "one", "two", "one")] == [False, True, False, False]


def test_a_document_whose_metadata_are_no_object_is_no_manifest() -> None:
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}

    assert is_manifest(document)
    assert not is_manifest({**document, "metadata": ["a"]})
