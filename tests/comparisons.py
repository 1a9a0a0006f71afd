"""Which requests are comparisons: informers list one object to learn the server's version, and nothing of objects."""

from collections.abc import Mapping


def is_comparison(query: Mapping[str, str]) -> bool:
    """True for the query of a list that compares versions; tests that count lists leave it out."""
    return query.get("limit") == "1"
