"""What a process is told that makes its own certificates."""

from pathlib import Path

import pytest

from hedgerow.machinery.configuration.process import SelfProvision
from hedgerow_entrypoints.errors import CommandError
from hedgerow_entrypoints.process.provisioning import FILE_FIELD, provisioning_config

HEAD = "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {name: a}\n"
WEBHOOK = "webhooks: [{name: a.b.c, clientConfig: {service: {name: a, namespace: garden}}}]\n"


def section(folder: Path, text: str) -> SelfProvision:
    file = folder / "webhooks.yaml"
    file.write_text(text, encoding="utf-8")
    return SelfProvision(secret_name="certificates", secret_namespace="garden", registrations=str(file))  # noqa: S106 -- names


def test_the_names_of_the_server_are_those_of_its_registrations(tmp_path: Path) -> None:
    config = provisioning_config(section(tmp_path, HEAD + WEBHOOK))

    assert config.names == ("a", "a.garden", "a.garden.svc", "a.garden.svc.cluster.local")
    assert str(config.secret) == "garden/certificates"
    assert [each["metadata"]["name"] for each in config.registrations] == ["a"]


def test_where_nothing_is_registered_the_certificate_has_some_name(tmp_path: Path) -> None:
    assert provisioning_config(section(tmp_path, "")).names == ("certificates",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
            "Pod default/a registers no webhooks, or in another version",
        ),
        (f"{HEAD}webhooks: many\n", "webhooks: expected a list, got a string"),
        ("a: [", "webhooks.yaml"),
    ],
)
def test_a_file_that_is_of_no_use_is_named_with_its_field(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(CommandError) as refused:
        provisioning_config(section(tmp_path, text))

    assert problem in str(refused.value)
    assert {cause.field for cause in refused.value.causes} == {FILE_FIELD}


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"webhooks\.yaml"):
        provisioning_config(SelfProvision(registrations=str(tmp_path / "webhooks.yaml")))
