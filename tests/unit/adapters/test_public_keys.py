from base64 import b64encode
from pathlib import Path
from typing import NoReturn

import pytest
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat

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
