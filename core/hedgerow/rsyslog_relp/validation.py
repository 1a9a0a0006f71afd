"""What is wrong with the values of a provider configuration, and with the Secret that it refers to.

The rules of the reference come first for each field. Those beyond it (`is_strict`) refuse what rsyslog would refuse or
misread on every node of the Shoot.

Source: rsyslog-relp §2.2, §2.3; decision D-3.
"""

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from hedgerow.machinery.failures import Problem, invalid, required, unsupported
from hedgerow.machinery.names import dns_subdomain_problem
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.reading import object_at, objects_at, text_at
from hedgerow.rsyslog_relp.config import TLS, RsyslogRelpConfig

AUTH_MODES: Final = ("fingerprint", "name")
TLS_LIBRARIES: Final = ("gnutls", "openssl")
SECRET_KEYS: Final = {"ca": "certificate", "crt": "certificate", "key": "unencrypted private key"}
"""Of the Secret with certificates, and what they hold: the authority, the client's certificate, its key."""
_CUTS_PROGRAM_NAME: Final = re.compile(r"[\[:/\s]")


def config_problems(config: RsyslogRelpConfig, *, is_strict: bool = True) -> tuple[Problem, ...]:
    """Everything that is wrong with a configuration, in the order of its fields; paths begin at the configuration."""
    rules = (rule for rule in RULES if is_strict or rule not in BEYOND_THE_REFERENCE)
    return tuple(problem for rule in rules for problem in rule(config))


PublicKey: TypeAlias = Callable[[str, object], bytes | None]
"""The public key that a value of a Secret holds, by a `certificate` or else a private key in PEM; none: it does not."""


def secret_problem(secret: ObjectKey, data: Mapping[str, object], public_key: PublicKey | None = None) -> str | None:
    """The first thing that is wrong with a Secret of certificates, given its data; none if it will do.

    Source: rsyslog-relp §2.3. Without `public_key` the presence of values counts, and nothing that they hold.
    """
    for key in SECRET_KEYS:
        if key not in data:
            return f"secret {secret} is missing {key} value"
    if len(data) > len(SECRET_KEYS):
        return f"secret {secret} should have only three data entries"
    if public_key is None:
        return None
    found = {key: public_key(kind, data[key]) for key, kind in SECRET_KEYS.items()}
    for key, kind in SECRET_KEYS.items():
        if found[key] is None:
            return f"secret {secret} has no {kind} in PEM as its {key} value"
    if found["crt"] != found["key"]:
        return f"secret {secret} has a key value that does not belong to the certificate of its crt value"
    return None


def resource_reference(shoot: Manifest, name: str | None) -> tuple[str, str] | None:
    """Kind and name of the object that the first of a Shoot's resources of that name refers to; none without one."""
    for entry in objects_at(shoot, "spec", "resources"):
        if text_at(entry, "name") == name:
            reference = object_at(entry, "resourceRef")
            return text_at(reference, "kind") or "", text_at(reference, "name") or ""
    return None


def config_warnings(config: RsyslogRelpConfig) -> tuple[str, ...]:
    """What is valid and hardly meant: a check of peers that none can pass, settings of TLS that is off."""
    if config.tls is None:
        return ()
    if not config.tls.enabled:
        return ("tls: has no effect, as tls.enabled is not true",) if config.tls != TLS() else ()
    if config.tls.auth_mode is None and config.tls.library != "openssl":
        return ("tls.authMode: is not set, and unless tlsLib is openssl rsyslog then refuses every server",)
    if config.tls.auth_mode and not config.tls.permitted_peers:
        return (f"tls.permittedPeer: is empty, so that authMode {config.tls.auth_mode} refuses every server",)
    return ()


Problems: TypeAlias = Iterator[Problem]


def _target_is_set(config: RsyslogRelpConfig) -> Problems:
    if not config.target:
        yield required("target", "target must not be empty")


def _target_is_an_address(config: RsyslogRelpConfig) -> Problems:
    if config.target and not _is_ip_address(config.target) and dns_subdomain_problem(config.target):
        yield invalid("target", config.target, "target must be an IP address or a DNS name")


def _port_is_not_negative(config: RsyslogRelpConfig) -> Problems:
    if config.port < 0:
        yield invalid("port", config.port, "port cannot be less than 0")


def _port_exists(config: RsyslogRelpConfig) -> Problems:
    if config.port >= 0 and config.port not in range(1, 65_536):
        yield invalid("port", config.port, "port must be between 1 and 65535")


def _tls_has_a_secret(config: RsyslogRelpConfig) -> Problems:
    if (tls := config.active_tls) and not tls.secret_reference_name:
        yield required("tls.secretReferenceName", "secretReferenceName must not be empty when tls is enabled")


def _choices_are_known(config: RsyslogRelpConfig) -> Problems:
    tls = config.tls or TLS()
    for name, value, known in (("authMode", tls.auth_mode, AUTH_MODES), ("tlsLib", tls.library, TLS_LIBRARIES)):
        if value is not None and value not in known:
            yield unsupported(f"tls.{name}", value, known)


def _peers_are_set(config: RsyslogRelpConfig) -> Problems:
    for index, peer in _peers(config):
        if not peer:
            yield required(f"tls.permittedPeer[{index}]", "value cannot be empty")


def _peers_are_words(config: RsyslogRelpConfig) -> Problems:
    for index, peer in _peers(config):
        if any(character.isspace() or not character.isprintable() for character in peer):
            yield invalid(f"tls.permittedPeer[{index}]", peer, "must not contain whitespace or control characters")


def _intervals_are_possible(config: RsyslogRelpConfig) -> Problems:
    for name, value, least in (
        ("rebindInterval", config.rebind_interval, 0),
        ("timeout", config.timeout, 0),
        ("resumeRetryCount", config.resume_retry_count, -1),
    ):
        if value is not None and value < least:
            yield invalid(name, value, f"must not be less than {least}")


def _there_are_rules(config: RsyslogRelpConfig) -> Problems:
    if not config.logging_rules:
        yield required("loggingRules", "at least one logging rule is required")


def _program_names_can_match(config: RsyslogRelpConfig) -> Problems:
    """Rsyslog cuts the name of a program at certain characters, so that a rule with one of them never matches."""
    for index, rule in enumerate(config.logging_rules):
        for number, name in enumerate(rule.program_names):
            if not name or not name.isprintable() or _CUTS_PROGRAM_NAME.search(name):
                at = f"loggingRules[{index}].programNames[{number}]"
                yield invalid(at, name, "not a valid syslog program name")


def _severities_exist(config: RsyslogRelpConfig) -> Problems:
    for index, rule in enumerate(config.logging_rules):
        if rule.severity not in range(8):
            yield invalid(f"loggingRules[{index}].severity", rule.severity, "severity must be between 0 and 7")


def _peers(config: RsyslogRelpConfig) -> Iterator[tuple[int, str]]:
    return enumerate(config.tls.permitted_peers if config.tls else ())


def _is_ip_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


RULES: Final = (
    _target_is_set,
    _target_is_an_address,
    _port_is_not_negative,
    _port_exists,
    _tls_has_a_secret,
    _choices_are_known,
    _peers_are_set,
    _peers_are_words,
    _intervals_are_possible,
    _there_are_rules,
    _program_names_can_match,
    _severities_exist,
)
"""In the order in which problems are told."""
BEYOND_THE_REFERENCE: Final = {
    *(_target_is_an_address, _port_exists, _peers_are_words),
    *(_intervals_are_possible, _program_names_can_match, _severities_exist),
}
