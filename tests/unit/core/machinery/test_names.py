"""What a Kubernetes name may look like, and how its problems are told."""

import string
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hedgerow.machinery import names

LOWER = string.ascii_lowercase + string.digits
MIXED = string.ascii_letters + string.digits

TEXTS = st.text(st.sampled_from("aZ9-_./ é\n"), max_size=12) | st.builds(
    str.__mul__, st.sampled_from(("a", "a-", "a.", "9", "-")), st.integers(0, 260)
)

SUBDOMAIN_RULE = (
    'must consist of a-z, 0-9, "-" and ".", each part between dots starting and ending with a letter or digit, '
    'for example "example.com"'
)
LABEL_RULE = (
    'must consist of a-z, 0-9 and "-", starting and ending with a letter or digit, for example "my-name" or "123-abc"'
)
NAME_PART_RULE = (
    'must consist of A-Z, a-z, 0-9, "-", "_" and ".", starting and ending with a letter or digit, '
    'for example "MyName" or "my.name"'
)
VALUE_RULE = (
    'must be empty or consist of A-Z, a-z, 0-9, "-", "_" and ".", starting and ending with a letter or digit, '
    'for example "MyValue" or "my_value"'
)
PORT_RULE = 'must consist of a-z, 0-9 and "-", for example "http-metrics"'


def spelled(text: str, *, ends: str, inside: str, longest: int) -> bool:
    """The naive rule behind every kind of name: its length, its characters, and those at both ends."""
    return 1 <= len(text) <= longest and set(text) <= set(inside) and text[0] in ends and text[-1] in ends


def is_dns_label(text: str, longest: int = 63) -> bool:
    return spelled(text, ends=LOWER, inside=LOWER + "-", longest=longest)


def is_dns_subdomain(text: str) -> bool:
    return len(text) <= 253 and all(is_dns_label(part, longest=253) for part in text.split("."))


def is_name_part(text: str) -> bool:
    return spelled(text, ends=MIXED, inside=MIXED + "-_.", longest=63)


def is_label_key(text: str) -> bool:
    *prefix, name = text.split("/")
    return is_name_part(name) and len(prefix) <= 1 and all(map(is_dns_subdomain, prefix))


def is_annotation_key(text: str) -> bool:
    return is_label_key(text.lower())


def is_label_value(text: str) -> bool:
    return not text or is_name_part(text)


def is_port_name(text: str) -> bool:
    return (
        spelled(text, ends=LOWER, inside=LOWER + "-", longest=15)
        and "--" not in text
        and any(character in string.ascii_lowercase for character in text)
    )


@pytest.mark.parametrize(
    ("problem", "is_legal"),
    [
        pytest.param(names.dns_subdomain_problem, is_dns_subdomain, id="DNS subdomain"),
        pytest.param(names.dns_label_problem, is_dns_label, id="DNS label"),
        pytest.param(names.label_key_problem, is_label_key, id="label key"),
        pytest.param(names.annotation_key_problem, is_annotation_key, id="annotation key"),
        pytest.param(names.label_value_problem, is_label_value, id="label value"),
        pytest.param(names.port_name_problem, is_port_name, id="port name"),
    ],
)
@given(text=TEXTS)
@example(text="a" * 15)
@example(text="a" * 16)
@example(text="a" * 63)
@example(text="a" * 64)
@example(text="a" * 253)
@example(text="a" * 254)
@example(text="a" * 253 + "/" + "b" * 63)
@example(text="a" * 254 + "/" + "b")
@example(text="a\n")
@example(text="Example.COM/My_Name")
def test_a_text_has_a_problem_exactly_where_the_naive_rule_refuses_it(
    problem: Callable[[str], str | None], is_legal: Callable[[str], bool], text: str
) -> None:
    assert (problem(text) is None) == is_legal(text)


@pytest.mark.parametrize(
    ("problem", "text", "told"),
    [
        (names.dns_subdomain_problem, "", "must not be empty"),
        (names.dns_subdomain_problem, "a" * 254, "must have at most 253 characters, has 254"),
        (names.dns_subdomain_problem, "a.-b", SUBDOMAIN_RULE),
        (names.dns_label_problem, "", "must not be empty"),
        (names.dns_label_problem, "a" * 64, "must have at most 63 characters, has 64"),
        (names.dns_label_problem, "My-name", LABEL_RULE),
        (names.dns_label_problem, "a.b", 'must not contain dots, for example "my-name" or "123-abc"'),
        (names.label_key_problem, "", "must not be empty"),
        (names.label_key_problem, "a b", NAME_PART_RULE),
        (names.label_key_problem, "x" * 64, "must have at most 63 characters, has 64"),
        (names.label_key_problem, "example.com/", 'name after "/" must not be empty'),
        (names.label_key_problem, "example.com/-x", f'name after "/" {NAME_PART_RULE}'),
        (names.label_key_problem, "/x", 'prefix before "/" must not be empty'),
        (names.label_key_problem, "Example.com/x", f'prefix before "/" {SUBDOMAIN_RULE}'),
        (names.label_key_problem, "a/b/c", 'must contain at most one "/", for example "example.com/MyName"'),
        (names.annotation_key_problem, "Example.com/x y", f'name after "/" {NAME_PART_RULE}'),
        (names.label_value_problem, "v" * 64, "must have at most 63 characters, has 64"),
        (names.label_value_problem, "-", VALUE_RULE),
        (names.port_name_problem, "", "must not be empty"),
        (names.port_name_problem, "a-port-too-long-", "must have at most 15 characters, has 16"),
        (names.port_name_problem, "HTTP", PORT_RULE),
        (names.port_name_problem, "-http", 'must not start or end with "-"'),
        (names.port_name_problem, "http-", 'must not start or end with "-"'),
        (names.port_name_problem, "a--b", 'must not contain "--"'),
        (names.port_name_problem, "80-81", "must contain at least one letter (a-z)"),
    ],
)
def test_a_problem_tells_length_characters_and_an_example(
    problem: Callable[[str], str | None], text: str, told: str
) -> None:
    assert problem(text) == told


@pytest.mark.parametrize(
    "key", ["Example.COM/Key", "app", "networking.resources.gardener.cloud/from-My_Alias-allowed-ports"]
)
def test_the_prefix_of_an_annotation_key_may_be_in_upper_case(key: str) -> None:
    assert names.annotation_key_problem(key) is None
