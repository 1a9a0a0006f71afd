"""The values of a chart as people read them: the values file, and the README with a table; both from the types."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from hedgerow_adapters.files.writing import render_yaml

_README = """# {name}

{description}

```sh
helm install {name} deploy/charts/{name} --namespace garden -f values.yaml
helm test {name} --namespace garden
```

[Installation](../../../docs/installation.md) explains what is installed. Values that are not in this table are refused.

| value | default | meaning |
|---|---|---|
{rows}
"""


def explained(values: BaseModel, indentation: str = "") -> Iterator[str]:
    """The lines of a values file, each value below what it means."""
    for name, described in type(values).model_fields.items():
        value, alias = getattr(values, name), described.alias or name
        yield from (f"{indentation}# {line}" for line in f"{described.description}".splitlines())
        if isinstance(value, BaseModel):
            yield f"{indentation}{alias}:"
            yield from explained(value, f"{indentation}  ")
        else:
            yield from (f"{indentation}{line}" for line in render_yaml([{alias: _plain(values, alias)}]).splitlines())


def readme(name: str, description: str, values: BaseModel) -> str:
    """The page of a chart, with a table of all its values."""
    return _README.format(name=name, description=description, rows="\n".join(_rows(values)))


def _rows(values: BaseModel, above: str = "") -> Iterator[str]:
    for name, described in type(values).model_fields.items():
        value, alias = getattr(values, name), described.alias or name
        if isinstance(value, BaseModel):
            yield from _rows(value, f"{above}{alias}.")
        else:
            meaning = f"{described.description}".replace("|", r"\|").replace("\n", " ")
            yield f"| `{above}{alias}` | `{json.dumps(_plain(values, alias), ensure_ascii=False)}` | {meaning} |"


def _plain(values: BaseModel, alias: str) -> Any:
    return values.model_dump(mode="json", by_alias=True)[alias]
