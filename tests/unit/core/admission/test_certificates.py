"""What certificates say, and that they are made of their arguments alone."""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from cryptography.x509.verification import PolicyBuilder, Store
from returns.result import Failure, Success

from hedgerow.admission.certificates import (
    Authority,
    Issue,
    certificate_authority,
    certificate_pem,
    only_certificates,
    serving_certificate,
)

START = datetime(2026, 1, 1, tzinfo=UTC)
ISSUE = Issue(1, START, START + timedelta(days=30))


@pytest.fixture(scope="module")
def key() -> RSAPrivateKey:
    """Small, for speed; its length is its maker's business."""
    return generate_private_key(65537, 2048)


@pytest.fixture(scope="module")
def authority(key: RSAPrivateKey) -> Authority:
    return certificate_authority(key, ISSUE)


@pytest.fixture(scope="module")
def serving(key: RSAPrivateKey, authority: Authority) -> x509.Certificate:
    return serving_certificate(
        "virtual-garden-gardener-resource-manager",
        "garden",
        key.public_key(),
        authority,
        Issue(2, START, START + timedelta(days=10)),
    )


def names_in(certificate: x509.Certificate) -> list[str]:
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return names.get_values_for_type(x509.DNSName)


def test_a_client_that_trusts_the_authority_accepts_the_server_by_each_of_its_names(
    authority: Authority, serving: x509.Certificate
) -> None:
    policy = PolicyBuilder().store(Store([authority.certificate])).time(START + timedelta(days=1))

    for name in names_in(serving):
        assert policy.build_server_verifier(x509.DNSName(name)).verify(serving, []) == [serving, authority.certificate]


def test_the_server_is_called_as_its_service(serving: x509.Certificate) -> None:
    (common_name,) = serving.subject.get_attributes_for_oid(NameOID.COMMON_NAME)

    assert common_name.value == "virtual-garden-gardener-resource-manager"
    assert names_in(serving) == [
        "virtual-garden-gardener-resource-manager",
        "virtual-garden-gardener-resource-manager.garden",
        "virtual-garden-gardener-resource-manager.garden.svc",
        "virtual-garden-gardener-resource-manager.garden.svc.cluster.local",
    ]


def test_the_server_can_do_nothing_but_serve(serving: x509.Certificate) -> None:
    usages = serving.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    constraints = serving.extensions.get_extension_for_class(x509.BasicConstraints).value

    assert list(usages) == [ExtendedKeyUsageOID.SERVER_AUTH]
    assert constraints.ca is False


def test_serial_number_and_validity_are_those_that_were_given(authority: Authority, serving: x509.Certificate) -> None:
    assert (authority.certificate.serial_number, serving.serial_number) == (1, 2)
    assert serving.not_valid_before_utc == START
    assert serving.not_valid_after_utc == START + timedelta(days=10)


def test_the_same_arguments_make_the_same_certificate(key: RSAPrivateKey, authority: Authority) -> None:
    again = certificate_authority(key, ISSUE)

    assert certificate_pem(again.certificate) == certificate_pem(authority.certificate)


def test_of_a_bundle_only_the_certificates_are_kept(authority: Authority, serving: x509.Certificate) -> None:
    first, second = certificate_pem(authority.certificate), certificate_pem(serving)
    secret = b"-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"

    assert only_certificates(b"old:\n" + first + secret + second) == Success(first + second)


@pytest.mark.parametrize(
    "text", [b"", b"certificate", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
)
def test_a_bundle_must_hold_a_certificate(text: bytes) -> None:
    assert only_certificates(text) == Failure("holds no certificate in PEM, or one that cannot be read")
