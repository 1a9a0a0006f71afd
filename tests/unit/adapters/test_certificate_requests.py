"""Certificate requests are read as kubelets write them, and whatever else comes is told to be unreadable."""

import subprocess
import sys
from base64 import b64decode, b64encode
from functools import cache
from ipaddress import ip_network
from textwrap import wrap

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.name import _ASN1Type
from cryptography.x509.oid import NameOID
from hypothesis import given, settings
from hypothesis import strategies as st
from returns.result import Failure, Success

from hedgerow.resource_manager.kubelet_certificates import CertificateRequest
from hedgerow_adapters.certificate_requests import LARGEST, decoded_request
from tests.kubelet_requests import kubelet_request, request_for, signed

COMMON_NAME, ORGANIZATION = NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME
NO_REQUEST = "PEM block type must be CERTIFICATE REQUEST"
NOT_ALONE = "PEM is not a single block as kubelets write it"
BEGIN, END = b"-----BEGIN CERTIFICATE REQUEST-----\n", b"-----END CERTIFICATE REQUEST-----\n"


@cache
def typical() -> bytes:
    return kubelet_request("node-1", ["foo.bar", "foo.bar"], ["1.2.3.4", "2001:db8::1"])


def pem(der: bytes, kind: str = "CERTIFICATE REQUEST") -> bytes:
    text = b64encode(der).decode()
    return "\n".join([f"-----BEGIN {kind}-----", *wrap(text, 64), f"-----END {kind}-----", ""]).encode()


def der(text: bytes) -> bytes:
    return b64decode(b"".join(text.splitlines()[1:-1]))


def asking(*attributes: x509.NameAttribute[str], names: list[x509.GeneralName] | None = None) -> bytes:
    """A request with these parts of the subject and these names, in DER."""
    return signed(request_for(x509.Name(attributes), names or [x509.DNSName("foo.bar")]), Encoding.DER)


def with_value(template: bytes, old: bytes, new: bytes) -> bytes:
    """DER in which some bytes are others; their number stays, so that nothing around them has to change."""
    assert template.count(old) == 1
    assert len(old) == len(new)
    return pem(template.replace(old, new))


def problem_of(text: bytes) -> str:
    problem = decoded_request(text).failure()
    assert "\n" not in problem
    return problem


def test_the_request_of_a_kubelet_is_read() -> None:
    assert decoded_request(typical()) == Success(
        CertificateRequest(
            "system:node:node-1",
            ("system:nodes",),
            frozenset({"foo.bar"}),
            frozenset({"1.2.3.4", "2001:db8::1"}),
        )
    )


def test_what_is_left_out_is_empty() -> None:
    assert decoded_request(signed(request_for(x509.Name([])))) == Success(CertificateRequest(""))


def test_the_last_of_several_common_names_counts_and_every_organization() -> None:
    names = [(COMMON_NAME, "a"), (ORGANIZATION, "system:nodes"), (COMMON_NAME, "b"), (ORGANIZATION, "system:masters")]
    request = decoded_request(pem(asking(*(x509.NameAttribute(*name) for name in names)))).unwrap()

    assert (request.common_name, request.organizations) == ("b", ("system:nodes", "system:masters"))


def test_names_of_nodes_may_be_long() -> None:
    name = f"system:node:{'n' * 63}.{'m' * 63}"
    template = asking(x509.NameAttribute(NameOID.PSEUDONYM, name))

    request = decoded_request(with_value(template, b"\x06\x03\x55\x04\x41", b"\x06\x03\x55\x04\x03"))

    assert request.unwrap().common_name == name


def test_names_of_other_kinds_are_told() -> None:
    names = [x509.DNSName("a"), x509.UniformResourceIdentifier("https://a"), x509.RFC822Name("a@b")]

    assert len(decoded_request(pem(asking(names=names))).unwrap().other_names) == 2


@pytest.mark.parametrize("around", [(b"", b""), (b"\n\n", b"\n"), (b"", b" \t\r\n \n")], ids=str)
def test_nothing_but_blanks_may_be_around_a_request(around: tuple[bytes, bytes]) -> None:
    before, after = around

    assert decoded_request(before + typical().strip() + after) == decoded_request(typical())


def test_a_request_written_as_these_tests_do_is_as_kubelets_write_it() -> None:
    assert pem(der(typical())) == typical()


@pytest.mark.parametrize(  # C21
    "text",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"no PEM", id="no PEM"),
        pytest.param(b"\xff\x00\xfe", id="bytes"),
        pytest.param(pem(der(typical()), "CERTIFICATE"), id="certificate"),
        pytest.param(pem(der(typical()), "NEW CERTIFICATE REQUEST"), id="an older name"),
        pytest.param(pem(b"no matter", "CERTIFICATE") + typical(), id="another block first"),
        pytest.param(b" " + typical(), id="indented"),
        pytest.param(b"a remark\n" + typical(), id="a remark"),
        pytest.param(b"in a line " + typical(), id="within a line"),
        pytest.param(b"\x00\n" + typical(), id="a zero"),
        pytest.param(typical().replace(b"-----", b"----"), id="fewer dashes"),
        pytest.param(typical().replace(b"-----", "\N{EN DASH}".encode() * 5), id="other dashes"),
    ],
)
def test_what_does_not_begin_with_a_request_is_refused(text: bytes) -> None:
    assert problem_of(text) == NO_REQUEST


@cache
def honest(padding: int) -> bytes:
    """The body of a request that ends with so much padding."""
    key = Ed25519PrivateKey.generate()  # its signatures are all of one length
    for length in range(1, 4):
        request = request_for(x509.Name([x509.NameAttribute(COMMON_NAME, "n" * length)]))
        body = b64encode(request.sign(key, None).public_bytes(Encoding.DER))
        if body.count(b"=") == padding:
            return body
    raise AssertionError("of three lengths one has each padding")


def block(body: bytes) -> bytes:
    return BEGIN + b"\n".join(body[at : at + 64] for at in range(0, len(body), 64)) + b"\n" + END


@cache
def hidden() -> bytes:
    """What a reader finds who skips the block before."""
    return kubelet_request("node-1", ["evil.example.com"], ["10.0.0.99"])


@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("surplus", [b"=", b"==", b"====", b"\n=", b"=\n=", b"A===", b"=A=="])
def test_padding_behind_what_is_complete_is_refused(padding: int, surplus: bytes) -> None:
    body = honest(padding)
    assert decoded_request(block(body)).unwrap().common_name.startswith("n")

    assert problem_of(block(body + surplus) + hidden()) == NOT_ALONE
    assert problem_of(block(body + surplus)) == NOT_ALONE


def test_bits_behind_the_last_byte_are_refused() -> None:
    body = honest(2)
    digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    other = body[:-3] + digits[digits.index(body[-3]) + 1 :][:1] + b"=="
    assert b64decode(other, validate=True) == b64decode(body)

    assert problem_of(block(other)) == NOT_ALONE


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(typical() + hidden(), id="a second block"),
        pytest.param(typical() + b"\n \n" + hidden(), id="a second block behind a blank"),
        pytest.param(typical().rstrip() + b" remark\n" + hidden(), id="a remark behind the end"),
        pytest.param(typical().rstrip() + hidden(), id="a second block in the line of the end"),
        pytest.param(typical() + b"a remark\n", id="a remark"),
        pytest.param(typical() + b"\x00", id="a zero behind"),
        pytest.param(typical() + b"\xa0", id="a blank of another character set"),
        pytest.param(typical() + b"\x0b", id="a blank of another kind"),
        pytest.param(typical() + pem(b"no matter", "CERTIFICATE"), id="a certificate behind"),
        pytest.param(typical() + END, id="a second end"),
        pytest.param(BEGIN + typical(), id="a second beginning"),
        pytest.param(typical().replace(b"\n-----END", b"\n-----BEGIN"), id="no end"),
        pytest.param(typical().replace(b"-----END", b"-----End"), id="another end"),
        pytest.param(typical().replace(END, b"-----END CERTIFICATE-----\n"), id="the end of something else"),
        pytest.param(typical().replace(b"-----\n", b"-----\nComment: hello\n\n", 1), id="headers"),
        pytest.param(typical().replace(b"-----\n", b"-----\n\n", 1), id="an empty line"),
        pytest.param(typical().replace(b"-----\n", b"----- \n", 1), id="a blank behind the beginning"),
        pytest.param(typical().replace(b"-----\n", b"-----\x00\n", 1), id="a zero behind the beginning"),
        pytest.param(typical().replace(b"\n-----END", b" \n-----END"), id="a blank within"),
        pytest.param(typical().replace(b"\n-----END", b"\n -----END"), id="a blank before the end"),
        pytest.param(typical().replace(b"\n", b"\r\n"), id="lines as they end elsewhere"),
        pytest.param(typical().replace(b"\nM", b"\n\x00M", 1), id="a zero within"),
        pytest.param(typical().replace(b"\nM", b"\n\xc3\xa9M", 1), id="a letter of another alphabet"),
        pytest.param(typical().replace(b"\nM", b"\n-M", 1), id="a dash within"),
        pytest.param(BEGIN + b64encode(der(typical())) + b"\n" + END, id="one long line"),
        pytest.param(typical()[:-40], id="cut"),
        pytest.param(typical().replace(b"\n-----END", b"-----END"), id="an end within a line"),
    ],
)
def test_a_request_that_is_not_alone_in_its_one_form_is_refused(text: bytes) -> None:
    assert text != typical()
    assert problem_of(text) == NOT_ALONE


@given(st.integers(min_value=0), st.sampled_from(list(b"=\r\n\t -:AQ/\x00\x0b\x0c\xa0")), st.booleans())
def test_whatever_is_changed_in_a_text_no_block_behind_another_is_read(place: int, byte: int, replaces: bool) -> None:  # noqa: FBT001 -- hypothesis draws it
    text = bytearray(typical() + hidden())
    place %= len(text)
    text[place : place + replaces] = bytes([byte])

    assert isinstance(decoded_request(bytes(text)), Failure)


def longer(value: bytes) -> bytes:
    """A sequence whose length is encoded in more bytes than it takes, which only the basic rules let."""
    assert value[:2] == b"\x30\x82"
    return b"\x30\x83\x00" + value[2:]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(der(typical()) + b"\x00", id="a byte behind"),
        pytest.param(der(typical()) + der(hidden()), id="a second request behind"),
        pytest.param(longer(der(typical())), id="a length in more bytes than it takes"),
        pytest.param(b"\x30\x80" + der(typical())[4:] + b"\x00\x00", id="no length, and an end instead"),
    ],
)
def test_what_is_encoded_otherwise_than_by_the_distinguished_rules_is_refused(content: bytes) -> None:
    assert problem_of(pem(content)).startswith("malformed certificate request: ")


def test_what_is_too_large_is_not_even_looked_at() -> None:
    padded = typical() + b" " * (LARGEST - len(typical()))

    assert decoded_request(padded) == decoded_request(typical())
    assert problem_of(padded + b" ") == "PEM is 65537 bytes long, expected 65536 at most"


def test_a_thousand_addresses_are_not_too_many() -> None:
    names = [f"name-{number}.example.com" for number in range(1000)]

    assert decoded_request(kubelet_request("a", names, [])).unwrap().dns_names == frozenset(names)


@pytest.mark.parametrize("string_type", [each for each in _ASN1Type if each.name.endswith("String")])
@pytest.mark.parametrize("oid", [COMMON_NAME, ORGANIZATION])
def test_texts_are_read_only_where_all_readers_make_the_same_of_them(
    oid: x509.ObjectIdentifier, string_type: _ASN1Type
) -> None:
    template = asking(x509.NameAttribute(oid, "text", _ASN1Type.UTF8String))
    request = decoded_request(with_value(template, b"\x0c\x04text", bytes([string_type.value]) + b"\x04text"))

    if string_type.name in {"UTF8String", "PrintableString", "IA5String"}:
        assert "text" in {request.unwrap().common_name, *request.unwrap().organizations}
    else:
        assert isinstance(request, Failure)


def test_no_part_of_a_text_is_lost() -> None:
    name = "system:node:a\x00b\n\N{LATIN SMALL LETTER E WITH ACUTE}"

    assert decoded_request(pem(asking(x509.NameAttribute(COMMON_NAME, name)))).unwrap().common_name == name


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b"\x0c\x04text", b"\x0c\x04te\xff\xfe", id="invalid UTF-8 in the subject"),
        pytest.param(b"\x82\x07foo.bar", b"\x82\x07foo\xff\xfear", id="invalid UTF-8 in a DNS name"),
        pytest.param(b"\x82\x07foo.bar", b"\x82\x09foo.bar", id="a DNS name that is longer than the list"),
        pytest.param(b"\x82\x07foo.bar", b"\x87\x07foo.bar", id="an IP address of 7 bytes"),
        pytest.param(b"\x82\x07foo.bar", b"\xa4\x07foo.bar", id="no directory name"),
        pytest.param(b"\x82\x07foo.bar", b"\xa3\x07foo.bar", id="an unknown kind of name"),
        pytest.param(b"\x02\x01\x00", b"\x02\x01\x07", id="an unknown version"),
    ],
)
def test_what_is_broken_inside_is_told(old: bytes, new: bytes) -> None:
    template = asking(x509.NameAttribute(COMMON_NAME, "text"))

    assert problem_of(with_value(template, old, new)).startswith("malformed certificate request: ")


@pytest.mark.parametrize("network", ["10.0.0.0/8", "2001:db8::/32"])
def test_a_network_is_no_address(network: str) -> None:
    parsed = ip_network(network)
    packed = parsed.network_address.packed + parsed.netmask.packed
    template = asking(names=[x509.DNSName("x" * len(packed))])
    size = bytes([len(packed)])

    problem = problem_of(with_value(template, b"\x82" + size + b"x" * len(packed), b"\x87" + size + packed))

    assert problem == "an IP address of the SANs has another length than 4 or 16 bytes"


GOOD = request_for(x509.Name([]), [x509.DNSName("good")])
OTHER_ATTRIBUTES = "there are other attributes than a single one for extensions"


def test_names_in_two_extensions_are_refused() -> None:
    other = x509.UnrecognizedExtension(x509.ObjectIdentifier("2.5.29.99"), b"\x30\x06\x82\x04evil")
    template = signed(GOOD.add_extension(other, critical=False), Encoding.DER)

    problem = problem_of(with_value(template, b"\x06\x03\x55\x1d\x63", b"\x06\x03\x55\x1d\x11"))

    assert problem.startswith("malformed certificate request: ")


def test_extensions_in_two_places_are_refused() -> None:
    template = signed(GOOD.add_attribute(x509.ObjectIdentifier("1.2.840.113549.1.9.99"), b"evil"), Encoding.DER)
    prefix = bytes.fromhex("06092a864886f70d0109")

    assert problem_of(with_value(template, prefix + b"\x63", prefix + b"\x0e")) == OTHER_ATTRIBUTES


def test_extensions_where_not_everybody_looks_for_them_are_refused() -> None:
    vendors = x509.ObjectIdentifier("1.3.6.1.4.1.311.2.1.14")
    extension = bytes.fromhex("300f0603551d110408300682046576696c")
    request = request_for(x509.Name([])).add_attribute(vendors, extension, _tag=_ASN1Type.OctetString)
    size = bytes([len(extension)])

    text = with_value(signed(request, Encoding.DER), b"\x04" + size + extension, b"\x30" + size + extension)

    assert problem_of(text) == OTHER_ATTRIBUTES


def test_a_password_beside_the_names_is_refused() -> None:
    password = GOOD.add_attribute(x509.oid.AttributeOID.CHALLENGE_PASSWORD, b"secret")

    assert problem_of(signed(password)) == OTHER_ATTRIBUTES


@given(st.binary(max_size=400))
def test_any_bytes_are_a_request_or_told_to_be_none(content: bytes) -> None:
    assert isinstance(decoded_request(content), Success | Failure)
    assert isinstance(decoded_request(pem(content)), Failure)


@given(st.integers(min_value=0), st.binary(min_size=1, max_size=8))
def test_a_request_of_which_some_bytes_are_others_is_read_or_told_to_be_unreadable(place: int, patch: bytes) -> None:
    content = der(typical())
    place %= len(content)

    decoded = decoded_request(pem(content[:place] + patch + content[place + len(patch) :]))

    assert isinstance(decoded, Success | Failure)


@given(st.integers(min_value=0), st.integers(min_value=0))
def test_a_part_of_a_request_is_no_request(begin: int, end: int) -> None:
    content = der(typical())
    part = content[begin % len(content) : end % len(content)]

    assert isinstance(decoded_request(pem(part)), Failure)


@given(
    st.sets(st.text("ab1-.*", min_size=1, max_size=9), max_size=6),
    st.sets(st.ip_addresses().map(str), max_size=6),
)
@settings(max_examples=30)
def test_all_names_are_read_again(dns: set[str], ips: set[str]) -> None:
    request = decoded_request(kubelet_request("a", dns, ips)).unwrap()

    assert (set(request.dns_names), set(request.ip_addresses), set(request.other_names)) == (dns, ips, set())


def test_who_decides_about_no_request_does_not_load_what_reads_them() -> None:
    program = "import sys, hedgerow_adapters.certificate_requests; print('cryptography' in sys.modules)"

    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert told.stdout.strip() == "False"
