"""The files of the Helm chart that are made out of declarations and types, as texts."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

from hedgerow.api.definition import build_definition
from hedgerow.api.resources_v1alpha1 import MANAGED_RESOURCE
from hedgerow.resource_manager.installation.values import Values, values_schema
from hedgerow.version import __version__
from hedgerow_adapters.files import render_yaml
from hedgerow_entrypoints.cli.install.chart import permission_features, registration_features

_ABOUT: Final = "# The values of the chart; values.schema.json says the same to machines.\n"
_CHART: Final = {
    "apiVersion": "v2",
    "name": "resource-manager",
    "description": "The resource manager of hedgerow: ManagedResources, network policies, tokens, nodes, webhooks",
    "type": "application",
    "version": __version__,
    "appVersion": __version__,
    "kubeVersion": ">=1.27.0-0",
}


def chart_files() -> Mapping[str, str]:
    """The texts by their paths in the chart."""
    return {
        "Chart.yaml": render_yaml([_CHART]),
        "values.yaml": _ABOUT + "".join(f"{line}\n" for line in _explained(Values())),
        "values.schema.json": _json(values_schema()),
        "files/permissions.json": _json(permission_features()),
        "files/webhooks.json": _json(registration_features()),
        f"crds/{MANAGED_RESOURCE.resource}.yaml": render_yaml([build_definition(MANAGED_RESOURCE)]),
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=1) + "\n"


def _explained(values: BaseModel, indentation: str = "") -> Iterator[str]:
    """The lines of a values file, each value below what it means."""
    for name, field in type(values).model_fields.items():
        value, alias = getattr(values, name), field.alias or name
        yield f"{indentation}# {field.description}"
        if isinstance(value, BaseModel):
            yield f"{indentation}{alias}:"
            yield from _explained(value, f"{indentation}  ")
        else:
            plain = values.model_dump(mode="json", by_alias=True)[alias]
            yield from (f"{indentation}{line}" for line in render_yaml([{alias: plain}]).splitlines())
