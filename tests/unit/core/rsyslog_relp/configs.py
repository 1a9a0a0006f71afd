"""Provider configurations as a Shoot's author writes them, and ones that come about by chance."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies

from hedgerow.rsyslog_relp.config import API_VERSION, KIND, TLS, LoggingRule, RsyslogRelpConfig, decode
from hedgerow.rsyslog_relp.rendering import ShootIdentity

RULES = [{"severity": 0, "programNames": ["kubelet"]}]
SHOOT = ShootIdentity("bar", "foo", "uid")


def document(**fields: Any) -> dict[str, Any]:
    """A provider configuration with these fields."""
    return {"apiVersion": API_VERSION, "kind": KIND, **fields}


def plain(**fields: Any) -> dict[str, Any]:
    """One without TLS, valid unless the fields make it invalid."""
    return document(**{"target": "rsyslog.relp.server", "port": 10250, "loggingRules": RULES, **fields})


def secured(**tls: Any) -> dict[str, Any]:
    """One with TLS."""
    return plain(tls={"enabled": True, "secretReferenceName": "rsyslog-tls", **tls})


def config_of(manifest: Mapping[str, Any]) -> RsyslogRelpConfig:
    """What a configuration means."""
    return decode(manifest, is_strict=True).unwrap()


_words = strategies.text(
    strategies.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp"), exclude_characters="[:/"), min_size=1
)
_counts = strategies.none() | strategies.integers(0, 2**31)
valid_configs = strategies.builds(
    RsyslogRelpConfig,
    target=strategies.sampled_from(["localhost", "10.0.0.1", "::1", "logs.example.com"]),
    port=strategies.integers(1, 65_535),
    logging_rules=strategies.lists(
        strategies.builds(
            LoggingRule,
            program_names=strategies.lists(_words, max_size=3).map(tuple),
            severity=strategies.integers(0, 7),
        ),
        min_size=1,
        max_size=3,
    ).map(tuple),
    tls=strategies.none()
    | strategies.builds(
        TLS,
        enabled=strategies.booleans(),
        secret_reference_name=strategies.just("rsyslog-tls"),
        permitted_peers=strategies.lists(_words, max_size=3).map(tuple),
        auth_mode=strategies.sampled_from([None, "name", "fingerprint"]),
        library=strategies.sampled_from([None, "openssl", "gnutls"]),
    ),
    rebind_interval=_counts,
    timeout=_counts,
    resume_retry_count=strategies.none() | strategies.integers(-1, 2**31),
    report_suspension_continuation=strategies.none() | strategies.booleans(),
)
