"""The registration of extensions: `core.gardener.cloud/v1beta1`.

Gardener serves these resources from an API server of its own. Webhooks decide defaults and rules that no schema can
state, and controllers decide them again when they read.

Source: controller-registration §2.1 to §2.4.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from hedgerow.api.definition import AGE, Column, CustomResource, condition_columns, enum, keyed_by
from hedgerow.api.registrations import (
    AFTER,
    BEFORE,
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    EXTENSION_KINDS,
    HEALTHY,
    INSTALLED,
    PROGRESSING,
    VALID,
    Policy,
)
from hedgerow.api.resources_v1alpha1 import Condition
from hedgerow.api.shape import ApiObject, ApiType, Items, Rule

_NOT_EMPTY: Final = {"minLength": 1}
_When = Annotated[str | None, enum(AFTER, BEFORE)]
_NAME: Final = Rule(
    "size(self.metadata.name) <= 63 && !self.metadata.name.contains('.')",
    "metadata.name must have at most 63 characters, and no dots",
)


class ControllerResourceLifecycle(ApiType):
    """When Extensions of the type are worked on."""

    reconcile: _When = None
    """Whether they are reconciled before or after the kube-apiserver of their Shoot; after, if absent."""
    delete: _When = None
    """Whether they are deleted before or after it; before, if absent."""
    migrate: _When = None
    """Whether they are migrated before or after it; before, if absent."""


class ControllerResource(ApiType):
    """A kind and type that an extension controller serves."""

    validations = tuple(
        Rule(f"self.kind == 'Extension' || !has(self.{name})", f"{name} must not be set when kind is not Extension")
        for name in ("globallyEnabled", "reconcileTimeout", "lifecycle")
    )

    kind: Annotated[str, enum(*sorted(EXTENSION_KINDS))]
    """Kind of the extension API."""
    type: Annotated[str, _NOT_EMPTY]
    """What objects of the kind have in spec.type."""
    primary: bool | None = None
    """Whether the controller is the one that writes the status of the objects; it is, if absent."""
    globally_enabled: bool | None = None
    """Whether every Shoot has an Extension of the type that does not opt out."""
    reconcile_timeout: str | None = None
    """How long an Extension may take to become ready, such as 3m0s, which it is if absent."""
    lifecycle: ControllerResourceLifecycle | None = None
    """When Extensions of the type are worked on."""
    workerless_supported: bool | None = None
    """Whether Shoots without workers may have an Extension of the type."""


class DeploymentReference(ApiType):
    """A ControllerDeployment."""

    name: Annotated[str, _NOT_EMPTY]
    """Name of the ControllerDeployment."""


class LabelSelectorRequirement(ApiType):
    """What the value of a label has to be."""

    is_atomic = True

    key: str
    """Key of the label."""
    operator: str
    """In, NotIn, Exists or DoesNotExist."""
    values: Items[str] = ()
    """Values for In and NotIn."""


class LabelSelector(ApiType):
    """Labels that objects have to have; an empty selector selects all."""

    is_atomic = True

    match_labels: Mapping[str, str] | None = None
    """Labels and their values."""
    match_expressions: Items[LabelSelectorRequirement] = ()
    """Further requirements; all have to be met."""


class ControllerRegistrationDeployment(ApiType):
    """How and where the controller is deployed."""

    validations = tuple(
        Rule(
            f"!has(self.deploymentRefs) || size(self.deploymentRefs) == 0 || !has(self.{name})",
            f"{name} must not be set beside deploymentRefs",
        )
        for name in ("type", "providerConfig")
    )

    type: Annotated[str | None, _NOT_EMPTY] = None
    """How it is deployed: helm, or the name of something else that deploys it."""
    provider_config: Mapping[str, Any] | None = None
    """What is deployed; for helm: chart, an archive in base64, and values."""
    deployment_refs: Annotated[Items[DeploymentReference], {"maxItems": 1}] = ()
    """The ControllerDeployment that says how it is deployed, in place of type and providerConfig."""
    policy: Annotated[str | None, enum(*Policy)] = None
    """When a seed gets it: OnDemand, the default, if something there needs it; Always; AlwaysExceptNoShoots."""
    seed_selector: LabelSelector | None = None
    """The seeds that may get it; only for a controller that controls nothing primarily."""


class ControllerRegistrationSpec(ApiType):
    """What an extension controller serves, and how it is deployed."""

    validations = (
        Rule(
            "!has(self.deployment) || !has(self.deployment.seedSelector) || !has(self.resources)"
            " || self.resources.all(each, has(each.primary) && !each.primary)",
            "deployment.seedSelector must not be set when a resource is controlled primarily",
        ),
    )

    resources: Annotated[Items[ControllerResource], {"maxItems": 256}] = ()
    """The kinds and types that it serves."""
    deployment: ControllerRegistrationDeployment | None = None
    """How and where it is deployed; absent: not by the project."""


class ControllerRegistration(ApiObject):
    """An extension controller: what it serves, and how it is deployed into seeds that need it."""

    validations = (_NAME,)

    api_version: Literal["core.gardener.cloud/v1beta1"] = "core.gardener.cloud/v1beta1"
    """Group and version of this object's type: core.gardener.cloud/v1beta1."""
    kind: Literal["ControllerRegistration"] = "ControllerRegistration"
    """Kind of this object: ControllerRegistration."""
    spec: ControllerRegistrationSpec = ControllerRegistrationSpec()
    """What it serves, and how it is deployed."""


class ControllerDeployment(ApiObject):
    """What is deployed for an extension controller."""

    validations = (_NAME,)

    api_version: Literal["core.gardener.cloud/v1beta1"] = "core.gardener.cloud/v1beta1"
    """Group and version of this object's type: core.gardener.cloud/v1beta1."""
    kind: Literal["ControllerDeployment"] = "ControllerDeployment"
    """Kind of this object: ControllerDeployment."""
    type: Annotated[str, _NOT_EMPTY]
    """How it is deployed: helm, or the name of something else that deploys it."""
    provider_config: Mapping[str, Any] | None = None
    """What is deployed; for helm: chart, an archive in base64, and values."""


class ObjectReference(ApiType):
    """An object, and its version at the last installation."""

    is_atomic = True

    api_version: str | None = None
    """Group and version of the object."""
    kind: str | None = None
    """Kind of the object."""
    name: str | None = None
    """Name of the object."""
    namespace: str | None = None
    """Namespace of the object; a cluster-scoped one has none."""
    uid: str | None = None
    """Uid of the object."""
    resource_version: str | None = None
    """The version of the object for which it was installed last."""
    field_path: str | None = None
    """Never set."""


class ControllerInstallationSpec(ApiType):
    """Which extension controller is installed into which seed."""

    validations = tuple(
        Rule(f"has(self.{name}.name) && size(self.{name}.name) > 0", f"{name}.name must be set")
        for name in ("registrationRef", "seedRef")
    ) + tuple(
        Rule(f"self.{name}.name == oldSelf.{name}.name", f"{name}.name is immutable")
        for name in ("registrationRef", "seedRef")
    )

    registration_ref: ObjectReference
    """The ControllerRegistration."""
    seed_ref: ObjectReference
    """The Seed."""
    deployment_ref: ObjectReference | None = None
    """The ControllerDeployment, if the registration refers to one."""


class ControllerInstallationStatus(ApiType):
    """What has become of the installation."""

    conditions: Annotated[Items[Condition], keyed_by("type")] = ()
    """Whether it is valid, installed, healthy, being rolled out, and still required."""
    provider_status: Mapping[str, Any] | None = None
    """What somebody else says who deploys it."""


class ControllerInstallation(ApiObject):
    """An extension controller in a seed."""

    validations = (_NAME,)

    api_version: Literal["core.gardener.cloud/v1beta1"] = "core.gardener.cloud/v1beta1"
    """Group and version of this object's type: core.gardener.cloud/v1beta1."""
    kind: Literal["ControllerInstallation"] = "ControllerInstallation"
    """Kind of this object: ControllerInstallation."""
    spec: ControllerInstallationSpec
    """Which extension controller is installed into which seed."""
    status: ControllerInstallationStatus = ControllerInstallationStatus()
    """What has become of the installation."""


CUSTOM_RESOURCES: Final[tuple[CustomResource, ...]] = (
    CustomResource(
        CONTROLLER_REGISTRATIONS,
        ControllerRegistration,
        singular="controllerregistration",
        short_names=("ctrlreg",),
        columns=(Column("Policy", "string", ".spec.deployment.policy"), AGE),
    ),
    CustomResource(
        CONTROLLER_DEPLOYMENTS,
        ControllerDeployment,
        singular="controllerdeployment",
        short_names=("ctrldeploy",),
        columns=(AGE,),
    ),
    CustomResource(
        CONTROLLER_INSTALLATIONS,
        ControllerInstallation,
        singular="controllerinstallation",
        short_names=("ctrlinst",),
        columns=(
            Column("Registration", "string", ".spec.registrationRef.name"),
            Column("Seed", "string", ".spec.seedRef.name"),
            *condition_columns({name: name for name in (VALID, INSTALLED, HEALTHY, PROGRESSING)}),
        ),
    ),
)
