"""Which objects a field selector picks, and how it is spelled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Resource
from hedgerow.machinery.questions import ListQuestion
from hedgerow.machinery.selectors import FieldTerm, field_query, parse_field_query

EVENT = {"metadata": {"namespace": "shop"}, "type": "Warning", "involvedObject": {"name": "cart"}}


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ("", True),
        ("type=Warning,involvedObject.name==cart", True),
        ("type=Warning,involvedObject.name=shop", False),
        ("type!=Normal", True),
        ("type!=Warning", False),
        ("involvedObject.uid=", True),
        ("type.deeper=", True),
        ("involvedObject.uid!=", False),
    ],
)
def test_all_terms_have_to_hold_and_what_is_not_there_is_empty(query: str, *, matches: bool) -> None:
    question = ListQuestion(Resource("", "v1", "events", "Event"), Cluster.TARGET, "shop", field_selector=query)

    assert question.asks_for(EVENT) is matches


@pytest.mark.parametrize("query", ["type", "type=a=b", "a=b,c", "a=\\x", "a=b\\"])
def test_what_cannot_be_read_is_refused(query: str) -> None:
    assert parse_field_query(query).failure().startswith("invalid selector: ")


@given(st.dictionaries(st.sampled_from(["type", "involvedObject.name"]), st.text()))
def test_a_value_may_hold_anything(fields: dict[str, str]) -> None:
    assert parse_field_query(field_query(fields)).unwrap() == tuple(FieldTerm(*each) for each in fields.items())
