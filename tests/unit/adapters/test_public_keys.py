from base64 import b64encode, encodebytes
from pathlib import Path
from typing import NoReturn
from unittest.mock import Mock

import pytest
from cryptography.exceptions import InternalError, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat
from cryptography.x509 import InvalidVersion

from hedgerow_adapters import public_keys
from hedgerow_adapters.public_keys import public_key
from tests.e2e.rsyslog.authority import Authority

KEY = generate_private_key(SECP256R1())


def encoded(content: bytes) -> str:
    return b64encode(content).decode()


@pytest.fixture(scope="module")
def issued(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("issued")
    authority = Authority()
    for name in ("one", "other"):
        authority.issue(name, folder / name)
    return folder


def test_certificate_and_key_of_a_pair_have_one_public_key(issued: Path) -> None:
    certificates = {name: encoded((issued / name / "tls.crt").read_bytes()) for name in ("one", "other")}
    key = encoded((issued / "one" / "tls.key").read_bytes())

    assert public_key("certificate", certificates["one"]) == public_key("private key", key)
    assert public_key("certificate", certificates["other"]) != public_key("private key", key)


def test_the_first_certificate_of_a_chain_counts(issued: Path) -> None:
    first, authority = ((issued / "one" / name).read_bytes() for name in ("tls.crt", "ca.crt"))

    assert public_key("certificate", encoded(first + authority)) == public_key("certificate", encoded(first))


@pytest.mark.parametrize("format", [PrivateFormat.TraditionalOpenSSL, PrivateFormat.PKCS8])
def test_a_private_key_may_be_written_in_two_ways(format: PrivateFormat) -> None:  # noqa: A002 -- as cryptography says
    pem = KEY.private_bytes(Encoding.PEM, format, NoEncryption())

    assert public_key("private key", encoded(pem))


def test_a_private_key_may_stand_behind_other_blocks(issued: Path) -> None:
    certificate, key = ((issued / "one" / name).read_bytes() for name in ("tls.crt", "tls.key"))

    assert public_key("private key", encoded(certificate + key)) == public_key("private key", encoded(key))


def _in_pem(der: bytes, label: str = "PRIVATE KEY", head: str = "") -> str:
    return encoded(f"-----BEGIN {label}-----\n{head}{encodebytes(der).decode()}-----END {label}-----\n".encode())


DSA = bytes.fromhex("300906072a8648ce380401")


@pytest.mark.parametrize(
    "value",
    [
        _in_pem(DSA),
        _in_pem(DSA, head="Comment: none\n\n"),
        _in_pem(DSA, label="DSA PRIVATE KEY"),
        _in_pem(bytes.fromhex("300b06092a864886f70d010301")),
        _in_pem(bytes.fromhex("300906072a8648ce3e0201")),
        _in_pem(bytes(16 * 1024)),
    ],
    ids=["DSA", "DSA behind a header", "DSA by its label", "DH", "DH of X9.42", "too large"],
)
def test_a_key_that_would_take_long_to_read_is_not_parsed(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = Mock()
    monkeypatch.setattr("cryptography.hazmat.primitives.serialization.load_pem_private_key", parsed)

    assert public_key("private key", value) is None
    assert not parsed.called


def test_an_encrypted_key_is_none() -> None:
    pem = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))

    assert public_key("private key", encoded(pem)) is None


@pytest.mark.parametrize("kind", ["certificate", "private key"])
@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        "",
        "no base64",
        "\u00e9",
        encoded(b"CRT"),
        encoded(b"\xff\x00"),
        encoded(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        encoded(b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
    ],
)
def test_what_is_neither_holds_no_key(kind: str, value: object) -> None:
    assert public_key(kind, value) is None


def test_what_is_not_known_here_is_no_ones_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(_pem: bytes) -> NoReturn:
        raise UnsupportedAlgorithm("a curve")

    monkeypatch.setattr("cryptography.x509.load_pem_x509_certificate", unsupported)

    assert public_key("certificate", encoded(b"of a curve")) == b""


@pytest.mark.parametrize("error", [InvalidVersion("7", 7), InternalError("DH", [])])
def test_an_error_of_the_library_is_none(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Mock(side_effect=error)
    monkeypatch.setattr("cryptography.x509.load_pem_x509_certificate", read)
    value = encoded(f"raises {error!r}".encode())

    assert public_key("certificate", value) is None
    assert public_key("certificate", value) is None
    assert read.call_count == 1


def test_another_thread_may_forget_everything_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    class Cleared(dict[tuple[str, bytes], bytes | None]):
        def __contains__(self, key: object) -> bool:
            known = super().__contains__(key)
            self.clear()
            return known

        def __setitem__(self, key: tuple[str, bytes], value: bytes | None) -> None:
            """Forgotten as soon as it is known."""

    monkeypatch.setattr(public_keys, "_known", Cleared())

    assert public_key("certificate", encoded(b"none")) is None


def test_a_value_is_read_once_and_not_kept(issued: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    value = encoded((issued / "one" / "tls.key").read_bytes())
    found = public_key("private key", value)
    monkeypatch.setattr("hedgerow_adapters.public_keys._read", lambda _kind, _value: None)

    assert public_key("private key", value) == found
    assert not [key for key in public_keys._known if value in key]


def test_only_so_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_keys, "MOST", 2)
    public_keys._known.clear()

    for number in range(5):
        public_key("certificate", encoded(f"{number}".encode()))

    assert len(public_keys._known) == 1
