"""What the Helm chart cannot find out by itself: which permissions and registrations go with which switch.

Templates compute nothing out of declarations, so the declarations are asked here, once for each switch of the component
configuration, and the answers are kept in files of the chart.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hedgerow.admission.registration import Mode, build_webhook_configurations
from hedgerow.machinery.clusters import Permission
from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.configuration import API_VERSION, KIND, ResourceManagerConfiguration
from hedgerow.resource_manager.installation.permissions import (
    concerns_anything,
    election_permissions,
    identity_permissions,
    merged,
)
from hedgerow_entrypoints.cli.install.installing import configuration_of, permissions_of_process
from hedgerow_entrypoints.components.registry import ControllerEntry
from hedgerow_entrypoints.components.resource_manager import COMPONENT

PREFIX: Final = "name-prefix-"
NAMESPACE: Final = "release-namespace"
"""Stand for what only a release knows; templates replace them, the prefix together with the name behind it."""
ELECTS: Final = "installation.elects"
ASKS_FOR_IDENTITY: Final = "installation.asksForIdentity"
IS_ITS_OWN_TARGET: Final = "installation.isItsOwnTarget"
"""Facts that templates find out themselves."""


@dataclass(frozen=True, slots=True)
class Switch:
    """Something in a component configuration that a permission or registration depends on."""

    fields: tuple[tuple[str, ...], ...]
    """Of each group, one field at least must be set; none: it is always on."""
    section: Mapping[str, Any] = field(default_factory=dict)
    """A configuration that sets it."""
    places: Mapping[str, str] = field(default_factory=dict)
    """The namespaces in it, each with the field that names it."""


def _controller(entry: ControllerEntry[Any]) -> Switch:
    """The switch of a controller, some of whose settings name namespaces."""
    name = entry.section
    settings = {setting: _place(name, setting) for setting in entry.namespaces}
    places = {place: f"controllers.{name}.{setting}" for setting, place in settings.items()}
    return Switch(((f"controllers.{name}.enabled",),), {"controllers": {name: {"enabled": True, **settings}}}, places)


def _place(name: str, setting: str) -> str:
    return f"{name}-{setting}".lower()


def _webhook(name: str, **settings: Any) -> Switch:
    """The switch of a webhook, whose other settings do not matter."""
    return Switch(((f"webhooks.{name}.enabled",),), {"webhooks": {name: {"enabled": True, **settings}}})


_INGRESSES: Final = Switch(
    (("controllers.networkPolicy.enabled",), ("controllers.networkPolicy.ingressControllerSelector",)),
    {
        "controllers": {
            "networkPolicy": {
                "enabled": True,
                "ingressControllerSelector": {"namespace": "ingress", "podSelector": {"matchLabels": {"app": "any"}}},
            }
        }
    },
)
_INVALIDATION: Final = Switch(
    (("controllers.tokenInvalidator.enabled", "controllers.tokenValidator.enabled"),),
    {"controllers": {"tokenInvalidator": {"enabled": True}}, "webhooks": {"tokenInvalidator": {"enabled": True}}},
)
"""Controller and webhook are enabled together, or the configuration is not valid."""
_SEPARATE: Final[Mapping[str, Any]] = {"targetClientConnection": {}}
_OPTIONAL: Final = [entry for entry in COMPONENT.controllers if not entry.is_enabled(ResourceManagerConfiguration())]
_SWITCHES: Final[dict[str, tuple[Switch, ...]]] = {entry.section: (_controller(entry),) for entry in _OPTIONAL}
_SWITCHES["networkPolicy"] += (_INGRESSES,)
_SWITCHES["tokenInvalidator"] = (_INVALIDATION,)
CONTROLLERS: Final = tuple(switch for section in sorted(_SWITCHES) for switch in _SWITCHES[section])
WEBHOOKS: Final = (
    _webhook("crdDeletionProtection"),
    _webhook("endpointSliceHints"),
    _webhook("extensionValidation"),
    _webhook("highAvailabilityConfig"),
    _webhook("kubernetesServiceHost", host="api.example.org"),
    _webhook("podSchedulerName"),
    _webhook("podTopologySpreadConstraints"),
    _webhook("projectedTokenMount"),
    _webhook("seccompProfile"),
    _webhook("systemComponentsConfig"),
    _INVALIDATION,
)


def permission_features() -> list[dict[str, Any]]:
    """The permissions of what is always on, and what each switch adds to them."""
    always = _permissions({})
    features = [_feature((), _without_anything(always), {})]
    for switch in (*CONTROLLERS, *(each for each in WEBHOOKS if each not in CONTROLLERS)):
        added = [each for each in _permissions(switch.section) if each not in always]
        beside_another_target = _permissions({**switch.section, **_SEPARATE})
        anyway = [each for each in added if each in beside_another_target]
        else_alone = [each for each in added if each not in anyway]
        if anyway:
            features.append(_feature(switch.fields, anyway, switch.places))
        if else_alone:
            features.append(_feature((*switch.fields, (IS_ITS_OWN_TARGET,)), else_alone, switch.places))
    lease = ObjectKey("leaderElection.resourceNamespace", "leaderElection.resourceName")
    fields = {name: name for name in lease}
    features.append(_feature(((ELECTS,),), election_permissions(lease), fields))
    features.append(_feature(((ASKS_FOR_IDENTITY,),), identity_permissions(), {}))
    return features


def _permissions(section: Mapping[str, Any]) -> tuple[Permission, ...]:
    """All permissions of a process whose configuration has a section."""
    return permissions_of_process(configuration_of(_document(section)))


def registration_features() -> dict[str, list[dict[str, Any]]]:
    """The entries of registration objects for each cluster, in the order of their calls, each behind its switch."""
    return {mode.value: _registrations(mode) for mode in Mode}


def _registrations(mode: Mode) -> list[dict[str, Any]]:
    fields_of = {
        (kind, entry["name"]): switch.fields for switch in WEBHOOKS for kind, _, entry in _entries(mode, switch.section)
    }
    return [
        {"when": _listed(fields_of[kind, entry["name"]]), "kind": kind, "metadata": metadata, "entry": entry}
        for kind, metadata, entry in _entries(mode, _everything())
    ]


def _entries(mode: Mode, section: Mapping[str, Any]) -> Iterable[tuple[str, Any, Any]]:
    """Kind and metadata of the registration objects of a configuration, with each of their entries."""
    admission = configuration_of(_document(section)).admission
    for each in build_webhook_configurations(mode, PREFIX, NAMESPACE, b"", admission):
        for entry in each["webhooks"]:
            yield each["kind"], each["metadata"], entry


def _everything() -> Mapping[str, Any]:
    """A configuration in which every webhook is enabled."""
    webhooks = {name: section for switch in WEBHOOKS for name, section in switch.section["webhooks"].items()}
    return {**_INVALIDATION.section, "webhooks": webhooks}


def _document(section: Mapping[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": KIND, "leaderElection": {"leaderElect": False}, **section}


def _feature(
    fields: Sequence[Sequence[str]], permissions: Iterable[Permission], places: Mapping[str, str]
) -> dict[str, Any]:
    """Permissions behind their switch; names and namespaces that a configuration decides about are its fields."""
    return {"when": _listed(fields), "permissions": [_permission(each, places) for each in merged(permissions)]}


def _permission(permission: Permission, places: Mapping[str, str]) -> dict[str, Any]:
    stated: dict[str, Any] = {
        "cluster": permission.cluster.value,
        "group": permission.group,
        "resource": permission.plural,
        "verbs": list(permission.verbs),
        "namespaced": permission.namespaced,
    }
    if names := [f"$({places[name]})" if name in places else name for name in permission.names]:
        stated["names"] = names
    if namespace := permission.namespace:
        stated["namespace"] = f"$({places[namespace]})" if namespace in places else namespace
    return stated


def _without_anything(permissions: Iterable[Permission]) -> list[Permission]:
    return [each for each in permissions if not concerns_anything(each)]


def _listed(fields: Sequence[Sequence[str]]) -> list[list[str]]:
    return [list(group) for group in fields]
