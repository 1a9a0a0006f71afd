"""How objects become the data of a Secret."""

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from hedgerow_adapters.builder import new_registry

VALUES = st.recursive(
    st.text(max_size=3) | st.integers() | st.booleans() | st.none(),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=3), values, max_size=3),
    max_leaves=8,
)
FIELDS = st.dictionaries(st.text(max_size=3), VALUES, max_size=4)


def backwards(value: Any) -> Any:
    """An equal value whose fields come in another order."""
    if isinstance(value, dict):
        return {name: backwards(value[name]) for name in reversed(value)}
    return [backwards(item) for item in value] if isinstance(value, list) else value


@given(FIELDS)
def test_equal_objects_are_equal_bytes_that_load_back_as_the_object(fields: dict[str, Any]) -> None:
    manifest = {"kind": "Widget", "metadata": {"name": "a"}, "fields": fields}

    (content,) = new_registry().add(manifest).unwrap().serialized().values()

    assert yaml.safe_load(content) == manifest
    assert list(new_registry().add(backwards(manifest)).unwrap().serialized().values()) == [content]


def test_fields_are_written_by_name() -> None:
    manifest = {"spec": {"b": "1", "a": [{"d": 1, "c": 2}]}, "metadata": {"name": "a"}, "data": {}, "kind": "Widget"}

    registry = new_registry().add(manifest).unwrap()

    assert registry.serialized() == {
        "widget____a.yaml": (
            b'data: {}\nkind: Widget\nmetadata:\n  name: a\nspec:\n  a:\n  - c: 2\n    d: 1\n  b: "1"\n'
        )
    }
