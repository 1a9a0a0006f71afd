from typing import Any

import pytest

from hedgerow.machinery.failures import joined
from hedgerow.machinery.objects import ObjectKey
from hedgerow.rsyslog_relp.config import RsyslogRelpConfig
from hedgerow.rsyslog_relp.validation import config_problems, config_warnings, secret_problem
from tests.unit.core.rsyslog_relp.configs import RULES, config_of, document, plain, secured

NO_REFERENCE = "tls.secretReferenceName: Required value: secretReferenceName must not be empty when tls is enabled"
BAD_LIBRARY = 'tls.tlsLib: Unsupported value: "invalid": supported values: "gnutls", "openssl"'
BAD_MODE = 'tls.authMode: Unsupported value: "foo": supported values: "fingerprint", "name"'


@pytest.mark.parametrize(
    "given",
    [
        plain(),
        plain(target="::1", timeout=0, rebindInterval=0, resumeRetryCount=-1, reportSuspensionContinuation=True),
        plain(tls={"enabled": False}),
        secured(),
        secured(authMode="fingerprint", permittedPeer=["SHA1:AB:CD"]),
        secured(tlsLib="openssl"),
        secured(tlsLib="gnutls"),
    ],
)
def test_a_valid_configuration_has_no_problems(given: dict[str, Any]) -> None:
    assert config_problems(config_of(given)) == ()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (plain(target=""), "target: Required value: target must not be empty"),
        (plain(port=-1), "port: Invalid value: -1: port cannot be less than 0"),
        (plain(loggingRules=[]), "loggingRules: Required value: at least one logging rule is required"),
        (plain(tls={"enabled": True}), NO_REFERENCE),
        (secured(authMode="foo"), BAD_MODE),
        (plain(tls={"enabled": False, "authMode": "foo"}), BAD_MODE),
        (secured(tlsLib="invalid"), BAD_LIBRARY),
        (secured(permittedPeer=["peer1", ""]), "tls.permittedPeer[1]: Required value: value cannot be empty"),
    ],
)
def test_the_references_rules_always_hold(given: dict[str, Any], problem: str) -> None:
    config = config_of(given)

    assert joined(config_problems(config)) == problem
    assert joined(config_problems(config, is_strict=False)) == problem


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (plain(port=0), "port: Invalid value: 0: port must be between 1 and 65535"),
        (plain(port=65536), "port: Invalid value: 65536: port must be between 1 and 65535"),
        (plain(timeout=-1), "timeout: Invalid value: -1: must not be less than 0"),
        (plain(rebindInterval=-1), "rebindInterval: Invalid value: -1: must not be less than 0"),
        (plain(resumeRetryCount=-2), "resumeRetryCount: Invalid value: -2: must not be less than -1"),
        (plain(target="a b"), 'target: Invalid value: "a b": target must be an IP address or a DNS name'),
        (
            plain(loggingRules=[*RULES, {"severity": 8}]),
            "loggingRules[1].severity: Invalid value: 8: severity must be between 0 and 7",
        ),
        (
            plain(loggingRules=[{"programNames": ["ok", "a/b"]}]),
            'loggingRules[0].programNames[1]: Invalid value: "a/b": not a valid syslog program name',
        ),
        (
            plain(loggingRules=[{"programNames": [""]}]),
            'loggingRules[0].programNames[0]: Invalid value: "": not a valid syslog program name',
        ),
        (
            secured(permittedPeer=["a\tb"]),
            'tls.permittedPeer[0]: Invalid value: "a\\tb": must not contain whitespace or control characters',
        ),
    ],
)
def test_further_rules_hold_unless_only_the_references_are_asked_for(given: dict[str, Any], problem: str) -> None:
    config = config_of(given)

    assert joined(config_problems(config)) == problem
    assert config_problems(config, is_strict=False) == ()


def test_all_problems_are_told_in_the_order_of_the_fields() -> None:
    assert joined(config_problems(config_of(document()))) == (
        "[target: Required value: target must not be empty, port: Invalid value: 0: port must be between 1 and 65535, "
        "loggingRules: Required value: at least one logging rule is required]"
    )


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ((), "secret bar/s is missing ca value"),
        (("ca",), "secret bar/s is missing crt value"),
        (("ca", "crt"), "secret bar/s is missing key value"),
        (("ca", "crt", "key"), None),
        (("ca", "crt", "key", "extra"), "secret bar/s should have only three data entries"),
    ],
)
def test_the_secret_holds_three_values(keys: tuple[str, ...], problem: str | None) -> None:
    assert secret_problem(ObjectKey("bar", "s"), dict.fromkeys(keys, "")) == problem


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"ca": "certificate of a", "crt": "certificate of b", "key": "key of b"}, None),
        (
            {"ca": "certificate of a", "crt": "certificate of a", "key": "key of b"},
            "secret bar/s has a key value that does not belong to the certificate of its crt value",
        ),
        (
            {"ca": "key of a", "crt": "certificate of b", "key": "key of b"},
            "secret bar/s has no certificate in PEM as its ca value",
        ),
        (
            {"ca": "certificate of a", "crt": "", "key": "key of b"},
            "secret bar/s has no certificate in PEM as its crt value",
        ),
        (
            {"ca": "certificate of a", "crt": "certificate of b", "key": "certificate of b"},
            "secret bar/s has no unencrypted private key in PEM as its key value",
        ),
    ],
)
def test_certificate_and_key_belong_together(data: dict[str, str], problem: str | None) -> None:
    def public_key(kind: str, value: object) -> bytes | None:
        held, _, owner = str(value).partition(" of ")
        return owner.encode() if owner and kind.endswith(held) else None

    assert secret_problem(ObjectKey("bar", "s"), data, public_key) == problem


@pytest.mark.parametrize(
    ("given", "warnings"),
    [
        (plain(), ()),
        (plain(tls={"enabled": False}), ()),
        (plain(tls={"authMode": "name"}), ("tls: has no effect, as tls.enabled is not true",)),
        (secured(tlsLib="openssl"), ()),
        (
            secured(),
            ("tls.authMode: is not set, and unless tlsLib is openssl rsyslog then refuses every server",),
        ),
        (secured(authMode="name"), ("tls.permittedPeer: is empty, so that authMode name refuses every server",)),
    ],
)
def test_warnings_tell_what_is_hardly_meant(given: dict[str, Any], warnings: tuple[str, ...]) -> None:
    assert config_warnings(config_of(given)) == warnings


def test_the_empty_configuration_has_problems_and_no_warnings() -> None:
    assert config_warnings(RsyslogRelpConfig()) == ()
