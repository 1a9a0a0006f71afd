"""The values of the Helm charts, which `hedgerow install` takes as well.

The schema of a chart is made from these types, descriptions included. Helm renders the chart without decoding the
component configuration: of that the schema knows types, and what templates rely on. What it refuses, `hedgerow install`
refuses as well; not the reverse.

Source: managed-resources §3.1, §4.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field
from returns.result import Failure

from hedgerow.admission.certificates import only_certificates
from hedgerow.api.network_policies import ALLOWED, TO_TARGET_API_SERVER
from hedgerow.api.shape import Items, unreadable
from hedgerow.installation.overrides import Override
from hedgerow.installation.parts import Name, Part, Quantity, Texts
from hedgerow.installation.pod_values import Placement, PodValues
from hedgerow.installation.surroundings import Surroundings
from hedgerow.machinery.configuration.process import PORTS, Provision
from hedgerow.machinery.configuration.reading import Document, Schema, document_schema, nullable
from hedgerow.machinery.failures import Problem, unknown_fields

_PORT: Final = nullable({"type": "integer", "minimum": PORTS[0], "maximum": PORTS[-1]})
_PROVISION: Final = {"enum": [*map(str, Provision), "", None]}
"""Registrations follow from it: a slip of the pen must not lead to some that nobody provides for."""
SWITCHED: Final = frozenset({"controllers", "webhooks"})
"""Sections whose names switch things on: under a misspelt one, what somebody wants is not there."""
EVERYTHING: Final = (
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
    {"nonResourceURLs": ["*"], "verbs": ["*"]},
)
"""The rules of a role that may do everything."""


def config_schema(document: type[Document]) -> dict[str, Any]:
    """The schema of a component configuration among the values."""
    schema: Schema = document_schema(document)
    for name in SWITCHED & schema["properties"].keys():
        schema["properties"][name]["additionalProperties"] = False
    endpoints = schema["properties"]["server"]["properties"]
    for endpoint in endpoints.values():
        endpoint["properties"]["port"] = _PORT
    endpoints["webhooks"]["properties"]["tls"]["properties"]["provision"] = _PROVISION
    return schema


def _authorities(pem: str) -> str:
    """A PEM text of certificates alone, or none; a path or a private key must not reach a cluster."""
    if "PRIVATE KEY" in pem:
        raise unreadable("holds a private key, which must stay secret")
    if pem and isinstance(found := only_certificates(pem.encode()), Failure):
        raise unreadable(found.failure())
    return pem


_OF_AUTHORITIES: Final = {"pattern": "^$|-----BEGIN CERTIFICATE-----", "not": {"pattern": "PRIVATE KEY"}}
Authorities = Annotated[str, AfterValidator(_authorities), Field(json_schema_extra=_OF_AUTHORITIES)]
"""Certificates in PEM; Helm cannot read them, and knows them by their first line."""


def unknown_switches(document: type[Document], config: Mapping[str, Any]) -> Iterator[Problem]:
    """Each controller or webhook that a component configuration names and that does not exist."""
    declared = config_schema(document)["properties"]
    for section in sorted(SWITCHED & declared.keys()):
        if isinstance(stated := config.get(section), Mapping):
            for name, problem in unknown_fields(stated, declared[section]["properties"]):
                yield Problem(f"{section}.{name}", problem)


class Issuer(Part):
    """Who signs the serving certificate, where the component configuration says `provision: cert-manager`."""

    kind: Literal["Issuer", "ClusterIssuer"] = "Issuer"
    """Its kind."""
    name: str = ""
    """Its name; empty: an Issuer of the installation's own, whose certificates sign themselves."""


class Webhooks(Part):
    """How API servers reach the webhooks that the component configuration enables."""

    certificate_secret: Name
    """The Secret of type kubernetes.io/tls beside the pods with the serving certificate; not with `provision: self`."""
    overrides: dict[str, Override] = Field(default_factory=dict)
    """Other timeoutSeconds, failurePolicy, or narrower selectors of webhooks, by registered name; * names all."""
    ca_bundle: Authorities = ""
    """PEM of the authorities that may have signed it, beside those of the process; empty: those of API servers."""
    issuer: Issuer = Issuer()
    """Who signs the serving certificate; only with `provision: cert-manager`."""


class Subject(Part):
    """Who the process is in the separate target cluster, as its kubeconfig makes it."""

    kind: Literal["ServiceAccount", "User"] = "ServiceAccount"
    """A ServiceAccount is made together with the roles; a User is not."""
    name: Name
    """Its name."""
    namespace: str = "kube-system"
    """Where it is, if it is a ServiceAccount."""


class Target(Part):
    """The separate target cluster; only where the component configuration has a targetClientConnection."""

    kubeconfig_secret: str = ""
    """The Secret in the namespace of the release whose key `kubeconfig` leads there."""
    token_secret: str = ""
    """The Secret whose key `token` lies beside the kubeconfig, for one that names it as its tokenFile; empty: none."""
    subject: Subject
    """Who the process is there: whom roles are granted to."""
    pod_labels: Texts = Field(default_factory=lambda: {TO_TARGET_API_SERVER: ALLOWED})
    """Labels by which NetworkPolicies let pods reach its API server."""


class ManagedResources(Part):
    """What ManagedResources may deliver: the process needs every permission for that, and those that roles grant."""

    cluster_admin: bool = False
    """Whether they may deliver everything, everywhere. Then the process may do everything."""
    rules: Items[dict[str, Any]] = ()
    """What they may deliver otherwise, as rules of a role."""
    cluster_wide: bool = True
    """Whether these rules hold everywhere. If only where the process looks, it delivers nothing without a namespace."""

    @property
    def granted(self) -> Sequence[Mapping[str, Any]]:
        """The rules of the role."""
        return EVERYTHING if self.cluster_admin else self.rules

    @property
    def problems(self) -> Iterator[str]:
        """Why it is no choice."""
        if not self.cluster_admin and not self.rules:
            yield (
                "values: managedResources: nothing says what ManagedResources may deliver: set "
                "managedResources.clusterAdmin to true for everything, or list in managedResources.rules what they may"
            )
        if self.cluster_admin and (self.rules or not self.cluster_wide):
            yield (
                "values: managedResources: clusterAdmin grants everything, everywhere: leave out rules and clusterWide"
            )


class Record(Part):
    """Whether pods record their decisions, for `hedgerow replay`."""

    enabled: bool = False
    """Whether they do, each in a file of its own that is gone with the pod."""
    size_limit: Quantity = "1Gi"
    """How long the file may grow: it is never cut off, and a pod whose file is longer is evicted."""


class ServiceAccount(Part):
    """The account of the pods."""

    annotations: Texts = Field(default_factory=dict)
    """Of the ServiceAccount."""
    token_expiration_seconds: Annotated[int, Field(ge=600)] = 43200
    """After how many seconds a token expires; kubelets renew it in time."""


class Service(Part):
    """The Service of webhooks and metrics."""

    annotations: Texts = Field(default_factory=dict)
    """Of the Service, such as those that ask for NetworkPolicies."""


class Definitions(Part):
    """The CustomResourceDefinitions that the component defines."""

    enabled: bool = True
    """Whether the release has them, and updates them."""
    keep: bool = True
    """Whether they stay when Helm removes the release: all objects that they define would go with them."""


Rendered = Literal["source", "target", "all", "process", "access", "registrations"]
"""All for one cluster, or for both; or a step of that: the process, its access to a separate target, registrations.

A webhook may block requests from its registration on, so that the process comes first."""


class Values(Surroundings, Placement, PodValues):
    """The values of a chart. A component's own `config` has a default and a schema."""

    enabled: bool = True
    """For charts that depend on this one, as their condition; here it does not count."""
    global_: dict[str, Any] = Field(alias="global", default_factory=dict)
    """What a chart that depends on this one says to all its charts; not used."""
    part: Rendered = "source"
    """What is rendered: for the cluster of the process (source), a separate target, both (all), or a step of these."""
    config: dict[str, Any]
    """The component configuration, as in its file. What it enables decides about roles and webhooks."""
    common_labels: Texts = Field(default_factory=dict)
    """Further labels of all objects and of the pods."""
    common_annotations: Texts = Field(default_factory=dict)
    """Further annotations of all objects, not of the pods."""
    service_account: ServiceAccount = ServiceAccount()
    """The account of the pods."""
    service: Service = Service()
    """The Service of webhooks and metrics."""


class DefinitionValues(Values):
    """The values of a chart whose component defines resources."""

    crds: Definitions = Definitions()
    """The CustomResourceDefinitions that the component defines."""


class WebhookValues(Values):
    """The values of a chart whose process may serve webhooks."""

    webhooks: Webhooks
    """How API servers reach the webhooks that the component configuration enables."""


class TargetValues(Values):
    """The values of a chart whose process may look after another cluster than its own."""

    target: Target
    """The separate target cluster."""


def values_schema(values: type[Values]) -> dict[str, Any]:
    """The JSON schema of a chart's values."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **values.model_json_schema(by_alias=True)}


def default_values(values: type[Values]) -> dict[str, Any]:
    """The values of an installation about which nothing is said."""
    return values().model_dump(mode="json", by_alias=True)
