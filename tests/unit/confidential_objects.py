"""Secrets that hold canaries wherever nobody may read, by themselves and inside other objects."""

import base64
import json
from collections.abc import Callable
from typing import Any, Final

import yaml
from hypothesis import strategies as st

from tests.e2e.canaries import Canaries

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
LABELS: Final = {
    "resources.gardener.cloud/purpose": "token-invalidator",
    "token-invalidator.resources.gardener.cloud/consider": "true",
}
"""With these a webhook changes the Secret."""
Json = dict[str, Any]
Place = Callable[[Json, str], None]
"""Puts a canary somewhere into a Secret."""


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _annotate(secret: Json, name: str, value: Any) -> None:
    secret["metadata"].setdefault("annotations", {})[name] = value


def _copy(secret: Json, canary: str) -> str:
    return json.dumps({**secret, "data": {"password": _encoded(canary)}})


PLACES: Final[dict[str, Place]] = {
    "data": lambda secret, canary: secret.setdefault("data", {}).update(password=_encoded(canary)),
    "stringData": lambda secret, canary: secret.setdefault("stringData", {}).update(password=canary),
    "a misspelt data": lambda secret, canary: secret.update(dataa={"password": _encoded(canary)}),
    "a misspelt stringData": lambda secret, canary: secret.update(StringData={"password": canary}),
    "a key of an unknown field": lambda secret, canary: secret.update(values={canary: 1}),
    "a text as unknown field": lambda secret, canary: secret.update(token=canary),
    "a list as unknown field": lambda secret, canary: secret.update(values=[{"password": canary}]),
    "a spec": lambda secret, canary: secret.update(spec={"data": {"password": _encoded(canary)}}),
    "a status": lambda secret, canary: secret.update(status=canary),
    "a copy": lambda secret, canary: _annotate(secret, LAST_APPLIED, _copy(secret, canary)),
    "an annotation": lambda secret, canary: _annotate(secret, "example.org/password", canary),
    "metadata": lambda secret, canary: secret["metadata"].update(password=canary),
}
"""What an API server takes, or drops as unknown."""
MALFORMED: Final[dict[str, Place]] = {
    "data in plain text": lambda secret, canary: secret.setdefault("data", {}).update(password=canary),
    "a value that is a mapping": lambda secret, canary: secret.setdefault("data", {}).update(a={"password": canary}),
    "data that are a text": lambda secret, canary: secret.update(data=canary),
    "data that are a list": lambda secret, canary: secret.update(data=[canary]),
    "stringData that are a text": lambda secret, canary: secret.update(stringData=canary),
    "annotations that are a text": lambda secret, canary: secret["metadata"].update(annotations=canary),
    "a type that is a mapping": lambda secret, canary: secret.update(type={"password": canary}),
}
"""What an API server refuses."""

ALONE: Final = "alone"
IN_A_LIST: Final = "in a List"
OF_TYPED: Final = (ALONE, IN_A_LIST)
"""Where a Secret is an object by itself."""
HOLDERS: Final[dict[str, Callable[[Json], Json]]] = {
    ALONE: lambda secret: secret,
    IN_A_LIST: lambda secret: {"apiVersion": "v1", "kind": "List", "items": [_config_map({"a": "b"}), secret]},
    "in a custom resource": lambda secret: {
        "apiVersion": "example.org/v1",
        "kind": "Bundle",
        "metadata": {"name": "holder", "namespace": "shop"},
        "spec": {"objects": [{"template": secret}]},
    },
    "in a text in YAML": lambda secret: _config_map({"secret.yaml": f"# a manifest\n---\n{yaml.safe_dump(secret)}"}),
    "in a text in JSON": lambda secret: _config_map({"secret.json": json.dumps(secret)}),
    "in a text with a template": lambda secret: _config_map({"a": "{{ if }}\n" + yaml.safe_dump(secret)}),
    "in a text in a text": lambda secret: _config_map({"a": json.dumps(_config_map({"b": yaml.safe_dump(secret)}))}),
    "in a list in a text": lambda secret: _config_map({"a": yaml.safe_dump([secret])}),
    "in an annotation": lambda secret: _config_map({}, annotations={LAST_APPLIED: json.dumps(secret)}),
}


def _config_map(data: Json, **metadata: Any) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "holder", **metadata}, "data": data}


def _with(secret: Json, places: dict[str, Place], canaries: Canaries) -> Json:
    for place, put in places.items():
        put(secret, canaries.new(place))
    return secret


def confidential_objects(
    places: dict[str, Place], *, are_typed: bool = False
) -> st.SearchStrategy[tuple[Json, Json, Canaries]]:
    """An object before and after a change, which is or holds a Secret, and what must not be read.

    Args:
        places: where canaries may be.
        are_typed: whether what is not inside of another object is spelled as an API server knows it.
    """

    def made(holder: str, spelling: str, chosen: tuple[set[str], set[str]]) -> tuple[Json, Json, Canaries]:
        canaries = Canaries()
        kind = "Secret" if are_typed and holder in OF_TYPED else spelling
        before, after = (
            HOLDERS[holder](
                _with(
                    {"apiVersion": "v1", "kind": kind, "metadata": {"name": "payment", "labels": dict(LABELS)}},
                    {name: places[name] for name in places if name in some},
                    canaries,
                )
            )
            for some in chosen
        )
        return before, after, canaries

    chosen = st.sets(st.sampled_from(list(places)), min_size=1)
    return st.builds(
        made, st.sampled_from(list(HOLDERS)), st.sampled_from(("Secret", "secret", "SECRET")), st.tuples(chosen, chosen)
    )
