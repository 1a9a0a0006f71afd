"""The values of the Helm charts, which `hedgerow install` takes as well.

The schema of a chart is made from these types, descriptions included. Helm renders the chart without decoding the
component configuration: of that the schema knows types, and what templates rely on. What it refuses, `hedgerow install`
refuses as well; not the reverse.

Source: managed-resources §3.1, §4.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from hedgerow.api.network_policies import ALLOWED, TO_DNS, TO_RUNTIME_API_SERVER, TO_TARGET_API_SERVER
from hedgerow.api.shape import Items, Typed
from hedgerow.machinery.configuration.process import PORTS
from hedgerow.machinery.configuration.reading import Document, Schema, document_schema, nullable

_PORT: Final = nullable({"type": "integer", "minimum": 0, "maximum": PORTS[-1]})


def config_schema(document: type[Document]) -> dict[str, Any]:
    """The schema of a component configuration among the values."""
    schema: Schema = document_schema(document)
    for endpoint in schema["properties"]["server"]["properties"].values():
        endpoint["properties"]["port"] = _PORT
    return schema


Name = Annotated[str, Field(min_length=1)]
Texts = dict[str, str]
Quantity = str | int | float
Quantities = dict[str, Quantity]

DEFAULT_REQUESTS: Final[Quantities] = {"cpu": "20m", "memory": "128Mi"}
DEFAULT_LIMITS: Final[Quantities] = {"memory": "512Mi"}


class Part(Typed):
    """An object among the values: what it does not declare is refused, as it would be ignored."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", alias_generator=to_camel, use_attribute_docstrings=True
    )


class Image(Part):
    """Which image the pods run."""

    repository: Name = "hedgerow"
    """Where the image is, without a tag."""
    tag: str = ""
    """Which version of it; empty: the one of this chart."""
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    """When kubelets fetch it."""


class Webhooks(Part):
    """How API servers reach the webhooks that the component configuration enables."""

    certificate_secret: Name
    """The Secret of type kubernetes.io/tls in the namespace of the release that holds the serving certificate."""
    ca_bundle: str = ""
    """PEM of the authorities that may have signed it; empty: those that API servers trust anyway."""


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


class ManagedObjects(Part):
    """What ManagedResources deliver."""

    rules: Items[dict[str, Any]] = (
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
        {"nonResourceURLs": ["*"], "verbs": ["*"]},
    )
    """What the process may do with it, as rules of a role. It grants what they grant, which is usually everything."""
    cluster_wide: bool = True
    """Whether it may everywhere. If only where it looks, nothing can be delivered that is in no namespace."""


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


class Resources(Part):
    """How much of a node a pod takes."""

    requests: Quantities = DEFAULT_REQUESTS
    """What is set aside for it."""
    limits: Quantities = DEFAULT_LIMITS
    """What it may take at most."""


class PodDisruptionBudget(Part):
    """How many pods may be missing because of what people plan."""

    max_unavailable: Annotated[int, Field(ge=0)] = 1
    """At a time."""


Rendered = Literal["source", "target", "all", "process", "access", "registrations"]
"""All for one cluster, or for both; or a step of that: the process, its access to a separate target, registrations.

A webhook may block requests from its registration on, so that the process comes first."""


class Values(Part):
    """The values of a chart. A component's own `config` has a default and a schema."""

    part: Rendered = "source"
    """What is rendered: for the cluster of the process (source), a separate target, both (all), or a step of these."""
    replicas: Annotated[int, Field(ge=0)] = 2
    """How many pods there are; one of them leads, all serve webhooks."""
    image: Image = Image()
    """Which image the pods run."""
    image_pull_secrets: Items[Texts] = ()
    """By which Secrets it is fetched: a list of `name`."""
    config: dict[str, Any]
    """The component configuration, as in its file. What it enables decides about roles and webhooks."""
    service_account: ServiceAccount = ServiceAccount()
    """The account of the pods."""
    service: Service = Service()
    """The Service of webhooks and metrics."""
    resources: Resources = Resources()
    """How much of a node a pod takes."""
    priority_class_name: str = ""
    """The priority of the pods; empty: the cluster's default."""
    pod_labels: Texts = Field(default_factory=lambda: {TO_DNS: ALLOWED, TO_RUNTIME_API_SERVER: ALLOWED})
    """Further labels of the pods: by these, NetworkPolicies let them reach DNS and the API server."""
    pod_annotations: Texts = Field(default_factory=dict)
    """Further annotations of the pods."""
    node_selector: Texts = Field(default_factory=dict)
    """Labels that the nodes of the pods must have."""
    tolerations: Items[dict[str, Any]] = ()
    """Taints that the pods tolerate, as in a pod."""
    affinity: dict[str, Any] = Field(default_factory=dict)
    """Where the pods run rather, as in a pod; they spread over nodes and zones in any case."""
    pod_disruption_budget: PodDisruptionBudget = PodDisruptionBudget()
    """How many pods may be missing because of what people plan."""


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
