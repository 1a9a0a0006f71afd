"""The files of the Helm chart that are made out of declarations and types.

Templates compute nothing out of declarations. Which permissions and registrations go with which switch of the component
configuration is asked of the declarations here, once for each switch, and kept in files of the chart.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel

from hedgerow.admission.registration import Mode, build_webhook_configurations
from hedgerow.api.definition import build_definition
from hedgerow.api.resources_v1alpha1 import MANAGED_RESOURCE
from hedgerow.installation.permissions import concerns_anything, election_permissions, merged
from hedgerow.installation.values import default_values, values_schema
from hedgerow.machinery.clusters import Permission
from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.configuration import API_VERSION, KIND, ResourceManagerConfiguration, decode
from hedgerow.resource_manager.configuration.webhooks import Webhooks
from hedgerow.resource_manager.installation import ResourceManagerInstallation, Values
from hedgerow.version import __version__
from hedgerow_adapters.files.writing import render_yaml
from hedgerow_entrypoints.cli.install import installation
from hedgerow_entrypoints.components.registry import ControllerEntry
from hedgerow_entrypoints.components.resource_manager import COMPONENT

PREFIX: Final = "name-prefix-"
NAMESPACE: Final = "release-namespace"
"""Stand for what only a release knows; templates replace them, the prefix together with the name behind it."""
ELECTS: Final = "installation.elects"
ASKS_FOR_IDENTITY: Final = "installation.asksForIdentity"
IS_ITS_OWN_TARGET: Final = "installation.isItsOwnTarget"
"""Facts that templates find out themselves."""
_ABOUT: Final = "# The values of the chart; values.schema.json says the same to machines.\n"
_CHART: Final = {
    "apiVersion": "v2",
    "name": ResourceManagerInstallation.component,
    "description": ResourceManagerInstallation.description,
    "type": "application",
    "version": __version__,
    "appVersion": __version__,
    "kubeVersion": ">=1.27.0-0",
}


@dataclass(frozen=True, slots=True)
class Switch:
    """Something in a component configuration that a permission or registration depends on."""

    fields: Sequence[Sequence[str]]
    """Of each group, one field at least must be set; none: it is always on."""
    section: Mapping[str, Any] = field(default_factory=dict)
    """A configuration that sets it."""
    places: Mapping[str, str] = field(default_factory=dict)
    """The namespaces in it, each with the field that names it."""


def _controller(entry: ControllerEntry[Any]) -> Switch:
    """The switch of a controller, some of whose settings name namespaces."""
    name = entry.section
    settings = {setting: f"{name}-{setting}".lower() for setting in entry.namespaces}
    places = {place: f"controllers.{name}.{setting}" for setting, place in settings.items()}
    return Switch(((f"controllers.{name}.enabled",),), {"controllers": {name: {"enabled": True, **settings}}}, places)


def _webhook(name: str) -> Switch:
    settings = {"host": "api.example.org"} if name == "kubernetesServiceHost" else {}
    return Switch(((f"webhooks.{name}.enabled",),), {"webhooks": {name: {"enabled": True, **settings}}})


_INGRESS_CONTROLLER: Final = {"namespace": "ingress", "podSelector": {"matchLabels": {"app": "any"}}}
_INGRESSES: Final = Switch(
    (("controllers.networkPolicy.enabled",), ("controllers.networkPolicy.ingressControllerSelector",)),
    {"controllers": {"networkPolicy": {"enabled": True, "ingressControllerSelector": _INGRESS_CONTROLLER}}},
)
_INVALIDATION: Final = Switch(
    (("controllers.tokenInvalidator.enabled", "controllers.tokenValidator.enabled"),),
    {"controllers": {"tokenInvalidator": {"enabled": True}}, "webhooks": {"tokenInvalidator": {"enabled": True}}},
)
"""Controller and webhook are enabled together, or the configuration is not valid."""
_OPTIONAL: Final = [entry for entry in COMPONENT.controllers if not entry.is_enabled(ResourceManagerConfiguration())]
_SWITCHES: Final[dict[str, tuple[Switch, ...]]] = {entry.section: (_controller(entry),) for entry in _OPTIONAL}
_SWITCHES["networkPolicy"] += (_INGRESSES,)
_SWITCHES["tokenInvalidator"] = (_INVALIDATION,)
CONTROLLERS: Final = tuple(switch for section in sorted(_SWITCHES) for switch in _SWITCHES[section])
WEBHOOKS: Final = tuple(
    _INVALIDATION if name == "tokenInvalidator" else _webhook(name)
    for name in (field.name for field in Webhooks.declared)
)


def permission_features() -> list[dict[str, Any]]:
    """The permissions of what is always on, and what each switch adds to them."""
    always = _permissions({})
    features = [_feature((), [each for each in always if not concerns_anything(each)], {})]
    for switch in (*CONTROLLERS, *(each for each in WEBHOOKS if each not in CONTROLLERS)):
        alone = _permissions(switch.section)
        beside_another_target = _permissions({**switch.section, "targetClientConnection": {}})
        added = [each for each in alone if each not in always]
        if anyway := [each for each in added if each in beside_another_target]:
            features.append(_feature(switch.fields, anyway, switch.places))
        if else_alone := [each for each in added if each not in beside_another_target]:
            features.append(_feature((*switch.fields, (IS_ITS_OWN_TARGET,)), else_alone, switch.places))
    lease = ObjectKey("leaderElection.resourceNamespace", "leaderElection.resourceName")
    features.append(_feature(((ELECTS,),), election_permissions(lease), {name: name for name in lease}))
    asking = [each for each in _permissions({"controllers": {"clusterID": "<cluster>"}}) if each not in always]
    features.append(_feature(((ASKS_FOR_IDENTITY,),), asking, {}))
    return features


def _registrations(mode: Mode) -> list[dict[str, Any]]:
    """The entries of registration objects, in the order of their calls, each behind its switch."""
    fields_of = {
        (kind, entry["name"]): switch.fields for switch in WEBHOOKS for kind, _, entry in _entries(mode, switch.section)
    }
    every_webhook = {name: section for switch in WEBHOOKS for name, section in switch.section["webhooks"].items()}
    return [
        {"when": fields_of[kind, entry["name"]], "kind": kind, "metadata": metadata, "entry": entry}
        for kind, metadata, entry in _entries(mode, {**_INVALIDATION.section, "webhooks": every_webhook})
    ]


def _entries(mode: Mode, section: Mapping[str, Any]) -> Iterable[tuple[str, Any, Any]]:
    """Kind and metadata of the registration objects of a configuration, with each of their entries."""
    for each in build_webhook_configurations(mode, PREFIX, NAMESPACE, b"", _configuration(section).admission):
        for entry in each["webhooks"]:
            yield each["kind"], each["metadata"], entry


def _permissions(section: Mapping[str, Any]) -> tuple[Permission, ...]:
    """Those of a process with a configuration that competes for no Lease."""
    values = default_values(Values)
    config = {**values["config"], "leaderElection": {"leaderElect": False}, **section}
    return installation(COMPONENT, Values.model_validate({**values, "config": config}), "garden").permissions


def _configuration(section: Mapping[str, Any]) -> ResourceManagerConfiguration:
    document = {"apiVersion": API_VERSION, "kind": KIND, "leaderElection": {"leaderElect": False}, **section}
    return decode(document).unwrap().configuration


def _feature(
    fields: Sequence[Sequence[str]], permissions: Iterable[Permission], places: Mapping[str, str]
) -> dict[str, Any]:
    """Permissions behind their switch; names and namespaces that a configuration decides about are its fields."""

    def placed(name: str) -> str:
        return f"$({places[name]})" if name in places else name

    stated: list[dict[str, Any]] = []
    for permission in merged(permissions):
        entry = {"cluster": permission.cluster.value, "group": permission.group, "resource": permission.plural}
        stated.append({**entry, "verbs": permission.verbs, "namespaced": permission.namespaced})
        if permission.names:
            stated[-1]["names"] = [*map(placed, permission.names)]
        if permission.namespace:
            stated[-1]["namespace"] = placed(permission.namespace)
    return {"when": fields, "permissions": stated}


def chart_files() -> Mapping[str, str]:
    """The texts by their paths in the chart."""
    return {
        "Chart.yaml": render_yaml([_CHART]),
        "values.yaml": _ABOUT + "".join(f"{line}\n" for line in _explained(Values())),
        "values.schema.json": _json(values_schema(Values)),
        "files/permissions.json": _json(permission_features()),
        "files/webhooks.json": _json({mode.value: _registrations(mode) for mode in Mode}),
        f"crds/{MANAGED_RESOURCE.resource}.yaml": render_yaml([build_definition(MANAGED_RESOURCE)]),
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=1) + "\n"


def _explained(values: BaseModel, indentation: str = "") -> Iterator[str]:
    """The lines of a values file, each value below what it means."""
    for name, described in type(values).model_fields.items():
        value, alias = getattr(values, name), described.alias or name
        yield f"{indentation}# {described.description}"
        if isinstance(value, BaseModel):
            yield f"{indentation}{alias}:"
            yield from _explained(value, f"{indentation}  ")
        else:
            plain = values.model_dump(mode="json", by_alias=True)[alias]
            yield from (f"{indentation}{line}" for line in render_yaml([{alias: plain}]).splitlines())
