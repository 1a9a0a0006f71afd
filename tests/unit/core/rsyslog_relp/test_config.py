import json
from typing import Any

import pytest

from hedgerow.machinery.failures import joined
from hedgerow.rsyslog_relp.config import TLS, LoggingRule, RsyslogRelpConfig, decode, decode_text
from tests.unit.core.rsyslog_relp.configs import RULES, document, plain, secured

FIRST_NAME = "loggingRules[0].programNames[0]"


def test_every_field_is_read() -> None:
    tls = {"permittedPeer": ["a", None], "authMode": "name", "tlsLib": "openssl"}
    stated = {**secured(**tls), "rebindInterval": 0, "timeout": 90, "resumeRetryCount": -1}

    config = decode({**stated, "reportSuspensionContinuation": False}, is_strict=True).unwrap()

    assert config == RsyslogRelpConfig(
        "rsyslog.relp.server",
        10250,
        (LoggingRule(("kubelet",), 0),),
        TLS(
            enabled=True,
            secret_reference_name="rsyslog-tls",  # noqa: S106 -- a name
            permitted_peers=("a", ""),
            auth_mode="name",
            library="openssl",
        ),
        rebind_interval=0,
        timeout=90,
        resume_retry_count=-1,
        report_suspension_continuation=False,
    )


@pytest.mark.parametrize("nothing", [None, {}, {"kind": "RsyslogRelpConfig"}, document(tls=None, loggingRules=None)])
def test_what_says_nothing_is_the_empty_configuration(nothing: object) -> None:
    assert decode(nothing, is_strict=True).unwrap() == RsyslogRelpConfig()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ([], "expected an object, got a list"),
        (
            plain(kind="Bar"),
            'no kind "Bar" is registered for version "rsyslog-relp.extensions.gardener.cloud/v1alpha1"',
        ),
        ({**plain(), "apiVersion": "v1"}, 'no kind "RsyslogRelpConfig" is registered for version "v1"'),
        (plain(port="x"), "port: expected an integer of 64 bits, got a string"),
        (plain(port=601.0), "port: expected an integer of 64 bits, got a decimal number"),
        (plain(timeout=2**63), "timeout: expected an integer of 64 bits, got an integer"),
        (plain(timeout=True), "timeout: expected an integer of 64 bits, got a boolean"),
        (plain(loggingRules=[{"severity": 1}, []]), "loggingRules[1]: expected an object, got a list"),
        (
            plain(loggingRules=[{"severity": "x"}]),
            "loggingRules[0].severity: expected an integer of 64 bits, got a string",
        ),
        (
            plain(loggingRules=[{"programNames": [1]}]),
            "loggingRules[0].programNames[0]: expected a string, got an integer",
        ),
        (secured(authMode=1), "tls.authMode: expected a string, got an integer"),
    ],
)
@pytest.mark.parametrize("is_strict", [True, False])
def test_a_value_of_a_wrong_type_is_an_error_that_names_its_field(given: Any, problem: str, *, is_strict: bool) -> None:
    assert joined(decode(given, is_strict=is_strict).failure()) == problem


def test_unknown_fields_are_errors_only_where_decoding_is_strict() -> None:
    given = plain(tagret="x", loggingRules=[{"programName": "a"}], tls={"": 1})

    assert joined(decode(given, is_strict=True).failure()) == (
        "[tagret: is an unknown field; did you mean target?, "
        "loggingRules[0].programName: is an unknown field; did you mean programNames?, tls[]: is an unknown field]"
    )
    assert decode(given, is_strict=False).unwrap().port == 10250


def test_without_a_version_no_field_is_known() -> None:
    given = {"target": "x", "port": 1}

    assert joined(decode(given, is_strict=True).failure()) == "[target: is an unknown field, port: is an unknown field]"
    assert decode(given, is_strict=False).unwrap() == RsyslogRelpConfig()


def test_texts_are_json_or_yaml() -> None:
    expected = decode(plain(), is_strict=True)

    assert decode_text(json.dumps(plain()), is_strict=True) == expected
    assert (
        decode_text("\n".join(f"{name}: {json.dumps(value)}" for name, value in plain().items()), is_strict=True)
        == expected
    )
    assert decode_text(" ", is_strict=True).unwrap() == RsyslogRelpConfig()


def test_a_broken_text_is_told_by_what_is_missing_in_it() -> None:
    for_people = "line 2: did not find expected ',' or ']' (while parsing a flow sequence that begins in line 1)"

    assert joined(decode_text("[1,2", is_strict=True).failure()) == for_people
    assert joined(decode_text("a: 1\na: 2\nb: }", is_strict=True).failure()).startswith("line 3: did not find expected")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(plain()).replace('"port"', '"port": 1, "port"'),
        f"apiVersion: {document()['apiVersion']}\nport: 1\nport: 10250\nloggingRules: {json.dumps(RULES)}\n",
    ],
)
def test_a_repeated_field_is_an_error_where_decoding_is_strict_and_else_the_last_counts(text: str) -> None:
    assert 'the key "port" appears twice in one mapping' in joined(decode_text(text, is_strict=True).failure())
    assert decode_text(text, is_strict=False).unwrap().port == 10250


@pytest.mark.parametrize("text", ["{", '{"apiVersion": 1', "a: [", "a: b: c", "\x00"])
def test_a_text_that_is_neither_is_an_error(text: str) -> None:
    assert joined(decode_text(text, is_strict=False).failure())


def test_the_first_of_repeated_values_has_to_be_of_the_right_type_too() -> None:
    text = json.dumps(plain()).replace('"port"', '"port": "x", "port"')

    assert joined(decode_text(text, is_strict=False).failure()) == "port: expected an integer of 64 bits, got a string"
