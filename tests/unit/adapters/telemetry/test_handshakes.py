"""The reasons of failed handshakes, from what OpenSSL and the event loops say."""

import pytest

from hedgerow_adapters.telemetry.handshakes import HandshakeFailure, handshake_failure


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        ("TLSV1_ALERT_UNKNOWN_CA", "untrusted-certificate"),
        ("SSLV3_ALERT_BAD_CERTIFICATE", "untrusted-certificate"),
        ("SSLV3_ALERT_CERTIFICATE_EXPIRED", "untrusted-certificate"),
        ("SSL/TLS_ALERT_CERTIFICATE_UNKNOWN", "untrusted-certificate"),
        ("CERTIFICATE_VERIFY_FAILED", "client-certificate"),
        ("the client showed no certificate", "client-certificate"),
        ("HTTP_REQUEST", "protocol"),
        ("WRONG_VERSION_NUMBER", "protocol"),
        ("TLSV1_ALERT_PROTOCOL_VERSION", "protocol"),
        ("TimeoutError", "timeout"),
        ("SSL handshake is taking longer than 10.0 seconds: aborting the connection", "timeout"),
        ("[Errno 104] Connection reset by peer", "other"),
        ("ConnectionResetError", "other"),
    ],
)
def test_the_reason_of_a_problem(problem: str, reason: str) -> None:
    assert handshake_failure(problem) == HandshakeFailure(reason)
