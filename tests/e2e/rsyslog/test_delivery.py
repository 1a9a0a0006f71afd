"""What real nodes forward to real servers: over plain RELP and TLS, to the wrong ones, to ones that are late."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hedgerow.rsyslog_relp import RsyslogRelpConfig, decode
from tests.e2e.rsyslog.authority import Authority
from tests.e2e.rsyslog.daemons import Node, Server, eventually, free_port, texts
from tests.e2e.rsyslog.programs import Programs

USER, DAEMON = 8, 24
"""Facilities, times 8."""
CRIT, ERR, NOTICE, INFO, DEBUG = 2, 3, 5, 6, 7
RULES = [
    {"programNames": ["systemd", "audisp-syslog"], "severity": NOTICE},
    {"programNames": ["kubelet"], "severity": DEBUG},
    {"severity": CRIT},
]
SERVER = "rsyslog-server"


def config(server: Server, **fields: Any) -> RsyslogRelpConfig:
    document: Mapping[str, Any] = {
        "apiVersion": "rsyslog-relp.extensions.gardener.cloud/v1alpha1",
        "kind": "RsyslogRelpConfig",
        "target": "127.0.0.1",
        "port": server.port,
        "loggingRules": RULES,
        **fields,
    }
    return decode(document, is_strict=True).unwrap()


def test_rules_say_what_is_forwarded_and_the_rest_stays(node: Node, server: Server) -> None:
    with server.running(), node.running(config(server)):
        node.say("systemd", DAEMON + NOTICE, "one")
        node.say("systemd", DAEMON + INFO, "two")
        node.say("kubelet[77]", USER + DEBUG, "three")
        node.say("other", USER + CRIT, "four")
        node.say("other", USER + ERR, "five")
        node.say("audisp-syslog", USER + NOTICE, "six")
        eventually(lambda: len(server.received) == 4, f"four messages arrive: {server.received}")
        eventually(lambda: "two" in node.local and "five" in node.local, "the others stay")

    assert texts(server.received) == ["one", "three", "four", "six"]
    assert not {"one", "three", "four", "six"} & {*texts(node.local.splitlines())}
    stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*"
    assert re.fullmatch(rf"foo bar uid \S+ {USER + DEBUG} kubelet\[77\]: {stamp} 77 - +three", server.received[1])
    assert re.fullmatch(rf"foo bar uid \S+ {DAEMON + NOTICE} systemd: {stamp} - - +one", server.received[0])


@pytest.fixture
def tls_server(programs: Programs, folder: Path, authority: Authority) -> Server:
    """A server that lets in nodes with a certificate of the name `node`."""
    own = folder / "server-tls"
    authority.issue(SERVER, own)
    files = f'tls.caCert="{own}/ca.crt" tls.myCert="{own}/tls.crt" tls.myPrivKey="{own}/tls.key"'
    tls = f'tls="on" {files} tls.authmode="name" tls.permittedpeer=["node"]'
    return Server(programs, folder, free_port(), 'tls.tlslib="openssl"', tls)


@pytest.fixture
def secured(node: Node, authority: Authority) -> Node:
    """A node with a certificate."""
    authority.issue("node", Path(node.paths.tls_installed_dir))
    return node


def tls(**fields: Any) -> dict[str, Any]:
    return {"tls": {"enabled": True, "secretReferenceName": "rsyslog-tls", **fields}}


CHECKED = {"authMode": "name", "permittedPeer": [SERVER]}


@pytest.mark.parametrize(
    "stated",
    [{**CHECKED, "tlsLib": "openssl"}, {**CHECKED, "tlsLib": "gnutls"}, CHECKED, {"tlsLib": "openssl"}],
    ids=["openssl", "gnutls", "default", "unchecked"],
)
def test_messages_arrive_over_mutual_tls(secured: Node, tls_server: Server, stated: dict[str, Any]) -> None:
    with tls_server.running(), secured.running(config(tls_server, **tls(**stated))):
        secured.say("other", USER + CRIT, "secret")
        eventually(lambda: tls_server.received, f"the message arrives: {secured.log}")

    assert texts(tls_server.received) == ["secret"]


def test_a_fingerprint_lets_in_the_server_that_has_it(
    programs: Programs, folder: Path, secured: Node, authority: Authority
) -> None:
    own = folder / "server-tls"
    fingerprint = authority.issue(SERVER, own)
    files = f'tls.caCert="{own}/ca.crt" tls.myCert="{own}/tls.crt" tls.myPrivKey="{own}/tls.key"'
    peer = authority.issue("node", Path(secured.paths.tls_installed_dir))
    mode = f'tls.authmode="fingerprint" tls.permittedpeer=["{peer}"]'
    server = Server(programs, folder, free_port(), 'tls.tlslib="openssl"', f'tls="on" {files} {mode}')
    stated = tls(authMode="fingerprint", permittedPeer=[fingerprint], tlsLib="openssl")
    with server.running(), secured.running(config(server, **stated)):
        secured.say("other", USER + CRIT, "secret")
        eventually(lambda: server.received, f"the message arrives: {secured.log}")


@pytest.mark.parametrize(
    ("check", "complaint"),
    [
        ({"authMode": "name", "permittedPeer": ["other-server"]}, "authentication error"),
        ({"authMode": "name"}, "authentication error"),
        ({"authMode": "fingerprint", "permittedPeer": ["SHA1:" + "AB" * 20]}, "non-permited fingerprint"),
        ({"tlsLib": "gnutls"}, "DISABLING action"),
    ],
    ids=["another name", "no name", "another fingerprint", "unchecked by gnutls"],
)
def test_a_server_that_is_not_permitted_gets_nothing(
    secured: Node, tls_server: Server, check: dict[str, Any], complaint: str
) -> None:
    with tls_server.running(), secured.running(config(tls_server, **tls(**{"tlsLib": "openssl", **check}))):
        secured.say("other", USER + CRIT, "secret")
        eventually(lambda: complaint in secured.log, f"the node complains: {secured.log}")

    assert tls_server.received == []


def test_messages_to_a_server_that_is_down_are_lost_and_counted(node: Node, server: Server) -> None:
    with node.running(config(server)):
        for number in range(5):
            node.say("other", USER + CRIT, f"lost-{number}")
        eventually(lambda: node.statistics().get("processed") == 5, f"statistics come: {node.statistics()}")

    counted = node.statistics()
    assert counted["failed"] > 0
    assert counted["suspended"] >= 1


def test_messages_to_a_server_that_is_late_arrive_where_retries_have_no_end(node: Node, server: Server) -> None:
    with node.running(config(server, resumeRetryCount=-1)):
        for number in range(5):
            node.say("other", USER + CRIT, f"late-{number}")
        eventually(lambda: "could not connect" in node.log, f"the node complains: {node.log}")
        with server.running():
            eventually(lambda: len(server.received) == 5, f"all arrive: {server.received}")
            eventually(lambda: node.statistics().get("resumed"), f"the action resumes: {node.statistics()}")

    assert texts(server.received) == [f"late-{number}" for number in range(5)]
    assert node.statistics()["failed"] == 0
