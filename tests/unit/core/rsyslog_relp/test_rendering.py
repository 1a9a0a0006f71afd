import re
from typing import Any

import pytest
from hypothesis import given

from hedgerow.rsyslog_relp.config import LoggingRule, RsyslogRelpConfig
from hedgerow.rsyslog_relp.rendering import (
    audit_rules,
    configurator_unit,
    expression_string,
    parameter_string,
    rsyslog_configuration,
)
from tests.unit.core.rsyslog_relp.configs import SHOOT, config_of, plain, secured, valid_configs

STRING = r'"(?:[^"\\]|\\.)*"'


def lines_of(manifest: dict[str, Any]) -> list[str]:
    return [line.strip() for line in rsyslog_configuration(config_of(manifest), SHOOT).splitlines()]


def test_logs_go_to_the_target() -> None:
    lines = lines_of(plain(target="::1"))

    assert 'target="::1"' in lines
    assert 'port="10250"' in lines
    assert not [line for line in lines if line.startswith(("tls", "timeout", "rebind", "action.r"))]


def test_explicit_zeros_are_rendered() -> None:
    zeros = {"rebindInterval": 0, "timeout": 0, "resumeRetryCount": 0, "reportSuspensionContinuation": False}

    lines = lines_of(plain(**zeros))

    first = lines.index('rebindInterval="0"')
    assert lines[first : first + 4] == [
        'rebindInterval="0"',
        'timeout="0"',
        'action.resumeRetryCount="0"',
        'action.reportSuspensionContinuation="off"',
    ]


def test_tls_names_the_installed_certificates() -> None:
    lines = lines_of(secured(authMode="name", tlsLib="openssl", permittedPeer=["a", "b"]))

    first = lines.index('tls="on"')
    assert 'tls.tlslib="openssl"' in lines
    assert lines[first : first + 6] == [
        'tls="on"',
        'tls.caCert="/etc/ssl/rsyslog/ca.crt"',
        'tls.myCert="/etc/ssl/rsyslog/tls.crt"',
        'tls.myPrivKey="/etc/ssl/rsyslog/tls.key"',
        'tls.authmode="name"',
        'tls.permittedpeer=["a","b"]',
    ]


def test_settings_of_tls_that_is_off_are_not_rendered() -> None:
    off = {"enabled": False, "authMode": "name", "tlsLib": "gnutls", "permittedPeer": ["a"]}

    assert rsyslog_configuration(config_of(plain(tls=off)), SHOOT) == rsyslog_configuration(config_of(plain()), SHOOT)


def test_rules_select_by_program_and_severity_in_their_order() -> None:
    rules = [{"severity": 5, "programNames": ["systemd", "audisp-syslog"]}, {"severity": 2}]

    filters = [line for line in lines_of(plain(loggingRules=rules)) if line.startswith("if")]

    assert filters == [
        'if $programname == ["systemd","audisp-syslog"] and $syslogseverity <= 5 then {',
        "if $syslogseverity <= 2 then {",
    ]


@pytest.mark.parametrize(
    ("text", "in_expression", "as_parameter"),
    [
        ("plain", '"plain"', '"plain"'),
        ('say "hi"', r'"say \"hi\""', r'"say \"hi\""'),
        ("back\\slash", r'"back\\slash"', r'"back\\slash"'),
        ("$HOME", r'"\$HOME"', '"$HOME"'),
        ("new\nline", r'"new\x0aline"', '"new\nline"'),
        ("日志", '"日志"', '"日志"'),
    ],
)
def test_strings_are_quoted_for_where_they_stand(text: str, in_expression: str, as_parameter: str) -> None:
    assert expression_string(text) == in_expression
    assert parameter_string(text) == as_parameter


@given(valid_configs)
def test_every_string_is_one_token(config: RsyslogRelpConfig) -> None:
    text = rsyslog_configuration(config, SHOOT)

    filters = [line for line in text.split("\n") if line.startswith("if ")]
    assert [re.sub(STRING, "S", line) for line in filters] == [expected(rule) for rule in config.logging_rules]
    assert text.endswith("}\n")
    if config.active_tls and config.active_tls.permitted_peers:
        (line,) = (line.strip() for line in text.split("\n") if "permittedpeer" in line)
        peers = ",".join("S" for _ in config.active_tls.permitted_peers)
        assert re.sub(STRING, "S", line) == f"tls.permittedpeer=[{peers}]"


def expected(rule: LoggingRule) -> str:
    names = ",".join("S" for _ in rule.program_names)
    return f"if {f'$programname == [{names}] and ' if names else ''}$syslogseverity <= {rule.severity} then {{"


def test_the_unit_runs_the_script_again_and_again() -> None:
    lines = configurator_unit().splitlines()

    assert {"Restart=always", "RestartSec=15", "WantedBy=multi-user.target"} <= {*lines}
    assert "ExecStart=/var/lib/rsyslog-relp-configurator/configure-rsyslog.sh" in lines
    assert "" not in lines


def test_audit_rules_begin_with_settings_and_go_on_after_errors() -> None:
    rules = {
        name: [line for line in text.splitlines() if not line.startswith("##")] for name, text in audit_rules().items()
    }

    assert [*rules] == sorted(rules)
    assert rules["00-base-config.rules"] == ["-D", "-b 8192", "--backlog_wait_time 60000", "-f 1", "-i"]
    assert rules["11-privileged-special.rules"][1] == (
        "-a exit,always -F arch=b64 -S mount_setattr -F auid!=-1 -F key=privileged_special"
    )
    assert len(rules["12-system-integrity.rules"]) == 9
    assert all(text.endswith("\n") for text in audit_rules().values())
