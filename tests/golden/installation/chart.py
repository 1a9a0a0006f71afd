"""The files of the Helm charts, made out of templates, declarations and types.

Charts share their templates, `deploy/chart-templates`; from a component's declaration follows which parts it gets.
Templates compute nothing out of controllers and webhooks. Which permissions and registrations go with which switch of
the component configuration is asked of the declarations here, once for each switch, and kept in files of the chart.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from hedgerow.admission.certificates import dns_names
from hedgerow.admission.provisioning import MARK
from hedgerow.api.definition import build_definition
from hedgerow.installation.completion import completion
from hedgerow.installation.monitoring import dashboard_file, rule_file
from hedgerow.installation.permissions import concerns_anything, election_permissions, merged
from hedgerow.installation.values import default_values, values_schema
from hedgerow.installation.workload import Installed
from hedgerow.machinery.clusters import Permission
from hedgerow.machinery.configuration.process import ClientConnection, Provision
from hedgerow.machinery.configuration.section import Section, SectionField
from hedgerow.machinery.objects import ObjectKey
from hedgerow.registration.configuration import GardenControllers
from hedgerow.version import __version__
from hedgerow_adapters.files.writing import render_yaml
from hedgerow_entrypoints.cli.install import IN_FILES, declared_installation, installation
from hedgerow_entrypoints.cli.stated_values import combined
from hedgerow_entrypoints.components import (
    CONTROLLER_MANAGER,
    RESOURCE_MANAGER,
    RSYSLOG_RELP,
    SEED_EXTENSIONS,
    component,
)
from hedgerow_entrypoints.components.registry import Component
from tests.golden.installation.explained import explained, readme

TEMPLATES: Final = Path(__file__).parents[3] / "deploy" / "chart-templates"
_HERE: Final = Path(__file__).parent
FOLDERS: Final = {
    RESOURCE_MANAGER: _HERE,
    **{name: _HERE / name for name in (CONTROLLER_MANAGER, SEED_EXTENSIONS, RSYSLOG_RELP)},
}
"""Where the cases of each component are."""
CASES: Final = [
    (name, file.parent) for name, folder in FOLDERS.items() for file in sorted(folder.glob("*/values.yaml"))
]
PREFIX: Final = "name-prefix-"
NAMESPACE: Final = "release-namespace"
"""Stand for what only a release knows; templates replace them, the prefix together with the name behind it."""
ELECTS: Final = "installation.elects"
ASKS_FOR_IDENTITY: Final = "installation.asksForIdentity"
IS_ITS_OWN_TARGET: Final = "installation.isItsOwnTarget"
PROVIDES_HERE: Final = "installation.providesHere"
PROVIDES_ELSEWHERE: Final = "installation.providesElsewhere"
"""Facts that templates find out themselves."""
_ABOUT: Final = "# The values of the chart; values.schema.json says the same to machines.\n"


@dataclass(frozen=True, slots=True)
class Switch:
    """Something in a component configuration that a permission or registration depends on."""

    fields: Sequence[Sequence[str]]
    """Of each group, one field at least must be set; none: it is always on."""
    section: Mapping[str, Any] = field(default_factory=dict)
    """A configuration that sets it."""
    places: Mapping[str, str] = field(default_factory=dict)
    """The namespaces in it, each with the field that names it."""


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
_GARDEN_ACCESS: Final = Switch(
    (("controllers.controllerInstallation.enabled",), ("gardenAccess.enabled",)),
    {
        "controllers": {"controllerInstallation": {"enabled": True}},
        "gardenAccess": {"enabled": True, "tokenRequestorLease": {"namespace": "any", "name": "any"}},
    },
)
_ODD: Final = {"tokenInvalidator": _INVALIDATION}
_MORE: Final = {"networkPolicy": (_INGRESSES,), "controllerInstallation": (_GARDEN_ACCESS,)}
_ONLY_TOGETHER: Final = ("controllerRegistration", "controllerDeployment")
"""Controllers that run in the process of a seed only where that is the garden."""
_OF_GARDEN: Final = {declared.name for declared in GardenControllers.declared}
"""Controllers that work for no single seed."""
_NEEDED: Final = {SEED_EXTENSIONS: {"seedConfig": {"metadata": {"name": "any"}}}}
"""Without which a component configuration is not valid."""
_HOST: Final = {"kubernetesServiceHost": {"host": "api.example.org"}}
_MODES: Final[Mapping[str, Mapping[str, Any]]] = {
    "runtime": {"webhooks": {"inGardener": True}},
    "standalone": {},
    "target": {"config": {"targetClientConnection": {}}},
}
"""The values by which the resource manager registers its webhooks for different clusters."""


@dataclass(frozen=True)
class Chart:
    """The chart of a component."""

    component: Component[Any]

    @cached_property
    def declared(self) -> type[Installed]:
        return declared_installation(self.component)

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """The component configuration by default."""
        assert self.component.document is not None
        return self.component.document().manifest()

    @cached_property
    def controllers(self) -> tuple[Switch, ...]:
        """The switches of the controllers."""
        sections = {entry.section: entry.namespaces for entry in self.component.controllers}
        switches: list[Switch] = []
        for name in sorted(name for name in sections if _is_switched(self.sections("controllers")[name])):
            settings = {setting: f"{name}-{setting}".lower() for setting in sections[name]}
            places = {place: f"controllers.{name}.{setting}" for setting, place in settings.items()}
            section = {"controllers": {name: {"enabled": True, **settings}}}
            own = Switch(((f"controllers.{name}.enabled",),), section, places)
            switches += (_ODD.get(name, own), *_MORE.get(name, ()))
        return tuple(switches)

    @cached_property
    def webhooks(self) -> tuple[Switch, ...]:
        """The switches of the webhooks."""
        return tuple(
            _ODD.get(
                name,
                Switch(
                    ((f"webhooks.{name}.enabled",),),
                    {"webhooks": {name: {"enabled": True, **_HOST.get(name, {})}}},
                ),
            )
            for name in self.sections("webhooks")
        )

    def sections(self, name: str) -> Mapping[str, SectionField]:
        """The fields of a section of the configuration, by name."""
        assert self.component.document is not None
        sections = (each.section for each in self.component.document.declared if each.name == name)
        return {each.name: each for section in sections if section is not None for each in section.declared}

    @property
    def _name(self) -> str:
        """What objects are called where a name may have a prefix."""
        has_prefix = "name_prefix" in self.declared.values_type.model_fields
        return f"{PREFIX}{self.declared.process}" if has_prefix else self.declared.process

    def installed(self, section: Mapping[str, Any], **values: Any) -> Installed:
        """An installation with one section of the configuration, and nothing else that can be switched off."""
        off = {
            kind: {name: {"enabled": False} for name, of in self.sections(kind).items() if _is_on(of)}
            for kind in ("controllers", "webhooks")
            if self.sections(kind)
        }
        defaults = default_values(self.declared.values_type)
        head = {name: defaults["config"][name] for name in ("apiVersion", "kind")}
        needed = {**head, **_NEEDED.get(self.component.name, {}), "leaderElection": {"leaderElect": False}}
        # What a process may do that makes its certificates is a feature of its own.
        in_files = IN_FILES["config"] if self.sections("webhooks") else {}
        config = combined(combined(needed, in_files), combined(off, section))
        stated = combined({**defaults, "config": config}, values)
        return installation(self.component, self.declared.values_type.model_validate(stated), NAMESPACE)

    def permission_features(self) -> list[dict[str, Any]]:
        """The permissions of what is always on, and what each switch adds to them."""
        always = self.installed({}).permissions
        features = [_feature((), [each for each in always if not concerns_anything(each)], {})]
        for switch in (*self.controllers, *(each for each in self.webhooks if each not in self.controllers)):
            alone = self.installed(switch.section).permissions
            added = [each for each in alone if each not in always]
            beside: Sequence[Permission] = alone
            has_target = "target" in self.declared.values_type.model_fields
            if has_target and switch.section.get("controllers", {}).keys() & _ONLY_TOGETHER:
                beside = ()
            elif has_target:
                beside = self.installed({**switch.section, "targetClientConnection": {}}).permissions
            if anyway := [each for each in added if each in beside]:
                features.append(_feature(switch.fields, anyway, switch.places))
            if else_alone := [each for each in added if each not in beside]:
                features.append(_feature((*switch.fields, (IS_ITS_OWN_TARGET,)), else_alone, switch.places))
        if self.webhooks:
            features += self._provisioning_features()
        lease = ObjectKey("leaderElection.resourceNamespace", "leaderElection.resourceName")
        features.append(_feature(((ELECTS,),), election_permissions(lease), {name: name for name in lease}))
        if self.has_cluster_id:
            asking = self.installed({"controllers": {"clusterID": "<cluster>"}}).permissions
            features.append(_feature(((ASKS_FOR_IDENTITY,),), [each for each in asking if each not in always], {}))
        return features

    def _provisioning_features(self) -> Iterator[dict[str, Any]]:
        """What a process may do that makes the certificates of its webhooks, by the cluster that calls them."""
        path = "server.webhooks.tls.self"
        places = {"any": f"{path}.secretName", NAMESPACE: f"{path}.secretNamespace"}
        own = {"provision": Provision.SELF.value, "self": {"secretName": "any"}}
        here: Mapping[str, Any] = {**self.webhooks[0].section}
        elsewhere = {**here, "targetClientConnection": {}}
        has_target = "target" in self.declared.values_type.model_fields
        for fact, section in ((PROVIDES_HERE, here), *(((PROVIDES_ELSEWHERE, elsewhere),) if has_target else ())):
            anyway = self.installed(section, **self._prefix).permissions
            wanted = self.installed({**section, "server": {"webhooks": {"tls": own}}}, **self._prefix).permissions
            yield _feature(((fact,),), [each for each in wanted if each not in anyway], places)

    @property
    def _prefix(self) -> Mapping[str, str]:
        """The value that templates replace in names."""
        return {"namePrefix": PREFIX} if "name_prefix" in self.declared.values_type.model_fields else {}

    @property
    def has_cluster_id(self) -> bool:
        return "clusterID" in self.sections("controllers")

    @property
    def _source_connections(self) -> tuple[str, ...]:
        """The names of the field of the component configuration that leads to the cluster of the process."""
        assert self.component.document is not None
        fields = self.component.document.declared
        own = next(each for each in fields if each.section and issubclass(each.section, ClientConnection))
        return (own.name, *(alias.name for alias in own.aliases))

    def _registrations(self, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The entries of registration objects, in the order of their calls, each behind its switch."""
        fields_of = {
            (kind, entry["name"]): switch.fields
            for switch in self.webhooks
            for kind, _, entry in self._entries(switch.section, values)
        }
        every_webhook: Mapping[str, Any] = {}
        for switch in self.webhooks:
            every_webhook = combined(every_webhook, switch.section)
        return [
            {"when": fields_of[kind, entry["name"]], "kind": kind, "metadata": metadata, "entry": entry}
            for kind, metadata, entry in self._entries(every_webhook, values)
        ]

    def _entries(self, section: Mapping[str, Any], values: Mapping[str, Any]) -> Iterable[tuple[str, Any, Any]]:
        """Kind and metadata of the registration objects of a configuration, with each of their entries."""
        for each in self.installed(section, **values, **self._prefix).registrations:
            for entry in each["webhooks"]:
                yield each["kind"], each["metadata"], entry

    def _configuration(self) -> dict[str, Any]:
        """What templates know of the component configuration: what completes it, and defaults that they rely on."""
        election, server = self.defaults["leaderElection"], self.defaults["server"]
        switches = {
            kind: {name: {"enabled": True} for name, of in self.sections(kind).items() if _is_on(of)}
            for kind in ("controllers", "webhooks")
        }
        defaults = {
            "leaderElection": {name: election[name] for name in ("leaderElect", "resourceName")},
            "server": {name: {"port": endpoint["port"]} for name, endpoint in server.items()},
            **switches,
        }
        return {"completion": completion(self.declared, NAMESPACE, self._name), "defaults": defaults}

    def files(self) -> Mapping[str, str]:
        """The texts by their paths in the chart."""
        declared = self.declared
        about = {
            "apiVersion": "v2",
            "name": declared.component,
            "description": declared.description,
            "type": "application",
            "version": __version__,
            "appVersion": __version__,
            "kubeVersion": ">=1.27.0-0",
        }
        modes = _MODES if "target" in declared.values_type.model_fields else {"standalone": {}}
        webhooks = {mode: self._registrations(values) for mode, values in modes.items()} if self.webhooks else {}
        return {
            "Chart.yaml": render_yaml([about]),
            "values.yaml": _ABOUT + "".join(f"{line}\n" for line in explained(declared.values_type())),
            "README.md": readme(declared.component, declared.description, declared.values_type()),
            "values.schema.json": _json(values_schema(declared.values_type)),
            "files/configuration.json": _json(self._configuration()),
            "files/permissions.json": _json(self.permission_features()),
            "files/alerts.yaml": render_yaml([rule_file(declared)]),
            "files/dashboard.json": dashboard_file(declared),
            **({"files/webhooks.json": _json(webhooks)} if webhooks else {}),
            **{
                f"files/definitions/{each.resource}.yaml": render_yaml([build_definition(each)])
                for each in declared.definitions
            },
            **dict(self._templates()),
        }

    def _templates(self) -> Iterator[tuple[str, str]]:
        parts = self.declared.values_type.model_fields
        webhooks = default_values(self.declared.values_type).get("webhooks", {})
        has = {name: name in parts for name in ("target", "record", "managed_resources", "name_prefix", "webhooks")}
        made = Environment(
            loader=FileSystemLoader(TEMPLATES),
            undefined=StrictUndefined,
            block_start_string="[%",
            block_end_string="%]",
            variable_start_string="[[",
            variable_end_string="]]",
            comment_start_string="[#",
            comment_end_string="#]",
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,  # noqa: S701 -- makes YAML
        )
        for file in sorted(TEMPLATES.iterdir()):
            text = made.get_template(file.name).render(
                component=self.declared.component,
                process=self.declared.process,
                cluster_id=self.has_cluster_id,
                in_gardener="inGardener" in webhooks,
                temporary_files=self.declared.writes_temporary_files,
                source_connections=self._source_connections,
                provisions=[*map(str, Provision)],
                dns_names=dns_names("{{ $name }}", "{{ .Release.Namespace }}"),
                definitions=bool(self.declared.definitions),
                certificate_secret=webhooks.get("certificateSecret", ""),
                for_seed="seedConfig" in self.defaults,
                seed_controllers=[name for name in self.sections("controllers") if name not in _OF_GARDEN],
                deployment_labels=self.installed({}).deployment_labels,
                pod_labels=self.installed({}).pod_labels,
                mark=MARK,
                **has,
            )
            if text.strip():
                yield (file.name if file.name == ".helmignore" else f"templates/{file.name}", text)


CHARTS: Final = {name: Chart(component(name)) for name in FOLDERS}


def _is_switched(declared: SectionField) -> bool:
    section = declared.section
    return section is not None and any(field.attribute == "enabled" for field in section.declared)


def _is_on(declared: SectionField) -> bool:
    return isinstance(declared.default, Section) and bool(declared.default.manifest().get("enabled"))


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


def _json(value: Any) -> str:
    return json.dumps(value, indent=1) + "\n"
