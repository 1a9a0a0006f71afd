"""A process makes the certificates of its webhooks, and registers these, at a real API server."""

import http.client
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from hedgerow.admission.provisioning import MARK
from tests.contract.webhook_server import ServingPair
from tests.control_plane import PATIENCE, wait_until
from tests.control_plane.processes import free_ports
from tests.e2e.admission import CONSIDERED
from tests.e2e.provisioned import CONFIGURATIONS, WEBHOOKS, Installed
from tests.e2e.resource_manager import ResourceManager, errors_of
from tests.e2e.sandbox import Sandbox

SHORT: dict[str, Any] = {"certificateLifetime": "10s", "authorityLifetime": "30s"}


@pytest.fixture
def shop(sandbox: Sandbox) -> str:
    """A namespace whose workloads are to be highly available."""
    return sandbox.namespace("shop", handled=True, **CONSIDERED)


@pytest.fixture
def installed(sandbox: Sandbox) -> Iterator[Installed]:
    """What an installation leaves to the process."""
    own = Installed(sandbox, free_ports(1)[0])
    with own():
        yield own


def test_a_first_start_with_nothing_there(installed: Installed, shop: str) -> None:
    with installed.process(writes=False) as process:
        process.wait_ready()
        installed.wait_registered()
        installed.wait_asked(shop)

        assert process.metric("hedgerow_webhook_certificate_not_after_timestamp_seconds") > 0
        assert installed.bundle() == installed.certificates("ca.crt")
        assert errors_of(process.log_lines()) == []


def test_replicas_serve_one_certificate_that_outlives_them(installed: Installed, shop: str) -> None:
    with installed.process() as first:
        with installed.process(name="second", webhook_port=free_ports(1)[0]) as second:
            for each in (first, second):
                each.wait_ready()
            installed.wait_asked(shop)
            (certificate,) = installed.certificates("tls.crt")
            expiry = certificate.not_valid_after_utc.timestamp()
            for each in (first, second):
                assert each.metric("hedgerow_webhook_certificate_not_after_timestamp_seconds") == expiry
        assert first.terminate() == 0

    with installed.process(name="third") as third:
        third.wait_ready()
        installed.wait_asked(shop)
        assert installed.certificates("tls.crt") == [certificate]


def test_no_request_fails_while_certificates_are_renewed_and_authorities_rotated(
    installed: Installed, shop: str
) -> None:
    with installed.process(**SHORT) as process:
        process.wait_ready()
        installed.wait_registered()
        installed.wait_asked(shop)
        (authority,) = installed.certificates("ca.crt")
        served, answers = {tuple(installed.certificates("tls.crt"))}, set[int | str]()

        def is_rotated() -> bool:
            answers.add(installed.replicas(shop))
            served.add(tuple(installed.certificates("tls.crt")))
            return authority not in installed.certificates("ca.crt")

        wait_until(is_rotated, timeout=3 * PATIENCE, otherwise=lambda: process.error("the authority stays"))

        assert answers == {2}
        assert len(served) > 3


def test_what_somebody_changes_is_put_back(installed: Installed, shop: str, serving_pair: ServingPair) -> None:
    with installed.process() as process:
        process.wait_ready()
        installed.wait_registered()
        (before,) = installed.bundle()
        webhooks = installed.live()["webhooks"]
        foreign = b64encode(serving_pair.certificate_pem).decode()
        for webhook in webhooks:
            webhook["clientConfig"]["caBundle"] = foreign
        installed.plane.request("PATCH", f"{CONFIGURATIONS}/{installed.name}", {"webhooks": webhooks})

        wait_until(
            lambda: installed.bundle() == [before],
            timeout=PATIENCE,
            otherwise=lambda: process.error("it is not put back"),
        )
        installed.wait_asked(shop)


def test_what_somebody_else_registers_is_trusted_besides_and_stays(
    installed: Installed, shop: str, serving_pair: ServingPair
) -> None:
    with installed.process() as process:
        process.wait_ready()
        installed.wait_registered()
        (own,) = installed.bundle()
        webhooks = installed.live()["webhooks"]
        for webhook in webhooks:
            webhook["clientConfig"]["caBundle"] = b64encode(serving_pair.certificate_pem).decode()
        marks = dict.fromkeys(MARK)
        handed_over = {"metadata": {"annotations": marks}, "webhooks": webhooks}
        installed.plane.request("PATCH", f"{CONFIGURATIONS}/{installed.name}", handed_over)

        wait_until(
            lambda: own in installed.bundle(), timeout=PATIENCE, otherwise=lambda: process.error("it is not trusted")
        )
        installed.wait_asked(shop)
        assert len(installed.bundle()) == 2


@pytest.mark.parametrize("foreign", [False, True])
def test_a_secret_that_is_lost_or_filled_with_something_else_is_filled_anew(
    installed: Installed, shop: str, *, foreign: bool
) -> None:
    with installed.process() as process:
        process.wait_ready()
        installed.wait_asked(shop)
        (before,) = installed.certificates("ca.crt")
        if foreign:
            rubbish = {"data": {"ca.key": None, "ca.crt": "cnViYmlzaA==", "tls.crt": "", "tls.key": ""}}
            assert installed.plane.request("PATCH", installed.secret_path, rubbish)[0] == http.client.OK
        else:
            assert installed.plane.request("DELETE", installed.secret_path)[0] == http.client.OK
            line = process.wait_for_line("Could not reconcile")
            assert line["error"].endswith("apply the installation again")
            assert installed.replicas(shop) == 2
            installed.apply_secret()

        def is_made() -> bool:
            assert installed.replicas(shop) == 2
            secret = installed.secret()
            return "ca.key" in ((secret or {}).get("data") or {}) and installed.certificates("ca.crt")[0] != before

        wait_until(is_made, timeout=PATIENCE, otherwise=lambda: process.error("no certificates are made"))
        installed.wait_asked(shop)
        assert before in installed.certificates("ca.crt")
        if foreign:
            (line,) = process.log_lines("Warned")
            assert line["reason"] == "WebhookAuthorityMade"


def test_a_registration_that_is_missing_is_named_and_the_process_is_ready(installed: Installed) -> None:
    assert installed.plane.request("DELETE", f"{CONFIGURATIONS}/{installed.name}")[0] == http.client.OK
    with installed.process() as process:
        process.wait_ready()
        line = process.wait_for_line("Could not reconcile")

        assert line["controller"] == "webhook-certificates"
        assert line["error"].startswith(f"MutatingWebhookConfiguration {installed.name}: does not exist")


def test_from_files_to_its_own_certificates_no_request_fails(
    sandbox: Sandbox, shop: str, tmp_path: Path, serving_pair: ServingPair
) -> None:
    installed = Installed(sandbox, free_ports(1)[0], ca_bundle=serving_pair.certificate_pem)
    config = sandbox.configuration(webhooks=WEBHOOKS)
    with installed(webhooks=True):
        with ResourceManager(tmp_path, config, name="files", webhook_port=installed.port) as old:
            old.wait_ready()
            installed.wait_asked(shop)
            with installed.process(name="self", webhook_port=free_ports(1)[0]) as beside:
                beside.wait_ready()
                wait_until(
                    lambda: len(installed.bundle()) == 2,
                    timeout=PATIENCE,
                    otherwise=lambda: beside.error("adds nothing"),
                )
                assert installed.replicas(shop) == 2
            assert old.terminate() == 0
        with installed.process(name="alone") as process:
            process.wait_ready()
            installed.wait_asked(shop)


def test_a_file_that_registers_something_else_ends_the_start(installed: Installed) -> None:
    installed.file.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}))
    with installed.process() as process:
        assert process.wait() == 1

        assert "registers no webhooks" in process.output()
