"""What is wrong with ControllerRegistrations, ControllerDeployments and ControllerInstallations.

Everything that is wrong with an object is found, in the order of its fields. Decisions use the same rules where nobody
has validated what they read.

Source: controller-registration §2.5, §2.6.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any, Final

from returns.result import Failure

from hedgerow.admission.extension_validation.checks import (
    FIELD_IS_IMMUTABLE,
    Line,
    each,
    field,
    not_empty_if_present,
    one_of,
    required,
    value_at,
)
from hedgerow.admission.extension_validation.kinds import Kind, build_kind
from hedgerow.admission.extension_validation.values import BOOLEAN, OBJECT, TEXT
from hedgerow.api.registrations import (
    AFTER,
    BEFORE,
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    EXTENSION_KINDS,
    Policy,
)
from hedgerow.machinery.failures import Problem, duplicate, forbidden, invalid
from hedgerow.machinery.failures import required as missing
from hedgerow.machinery.names import dns_label_problem, label_key_problem, label_value_problem
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import objects_at
from hedgerow.machinery.scalars import parse_duration
from hedgerow.machinery.selectors import Operator
from hedgerow.registration.registrations import EXTENSION, LIFECYCLE, Registration, type_id, with_defaults

_SELECTOR: Final = "spec.deployment.seedSelector"
_REFERENCES: Final = "spec.deployment.deploymentRefs"
_ONLY_OF_EXTENSIONS: Final = ("globallyEnabled", "reconcileTimeout", "lifecycle")
_SUPPORTED: Final = tuple(sorted(EXTENSION_KINDS))
_IN: Final = frozenset({Operator.IN.value, Operator.NOT_IN.value})
_EXISTS: Final = frozenset({Operator.EXISTS.value, Operator.DOES_NOT_EXIST.value})


def _only_of_extensions(resource: Manifest, where: str) -> Iterator[Problem]:
    if resource.get("kind") != EXTENSION:
        for name in _ONLY_OF_EXTENSIONS:
            if resource.get(name) is not None:
                yield forbidden(f"{where}.{name}", f"field must not be set when kind != {EXTENSION}")


def _lifecycle_supported(resource: Manifest, where: str) -> Iterator[Problem]:
    if resource.get("kind") == EXTENSION:
        for name in LIFECYCLE:
            yield from one_of((AFTER, BEFORE), unless=(None,))(f"lifecycle.{name}")(resource, where)


def _timeout_positive(resource: Manifest, where: str) -> Iterator[Problem]:
    text = resource.get("reconcileTimeout")
    if text is None or resource.get("kind") != EXTENSION:
        return
    duration = parse_duration(text)
    if isinstance(duration, Failure):
        yield invalid(f"{where}.reconcileTimeout", text, duration.failure())
    elif duration.unwrap() <= timedelta():
        yield invalid(f"{where}.reconcileTimeout", text, "must be greater than 0")


def _listed_once(registration: Manifest, _where: str) -> Iterator[Problem]:
    seen = set()
    for index, resource in enumerate(value_at(registration, "spec.resources") or ()):
        listed = type_id(resource.get("kind") or "", resource.get("type") or "")
        if listed in seen:
            yield duplicate(f"spec.resources[{index}]", listed)
        seen.add(listed)


def _selector_of_secondaries(registration: Manifest, _where: str) -> Iterator[Problem]:
    """What controls a type primarily is installed wherever the type is used."""
    resources = value_at(registration, "spec.resources") or ()
    if value_at(registration, _SELECTOR) is not None and any(each.get("primary") is not False for each in resources):
        detail = "specifying a seed selector is not allowed when controlling resources primarily"
        yield forbidden(_SELECTOR, detail)


def _selector_labels(registration: Manifest, _where: str) -> Iterator[Problem]:
    path = f"{_SELECTOR}.matchLabels"
    for key, value in (value_at(registration, path) or {}).items():
        for text, problem in ((key, label_key_problem(key)), (value, label_value_problem(value or ""))):
            if problem:
                yield invalid(path, text, problem)


def _selector_expression(expression: Manifest, where: str) -> Iterator[Problem]:
    operator, values = expression.get("operator") or "", expression.get("values")
    if operator in _IN:
        if not values:
            yield missing(f"{where}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in _EXISTS:
        if values:
            yield forbidden(f"{where}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    else:
        yield invalid(f"{where}.operator", operator, "not a valid selector operator")
    if problem := label_key_problem(expression.get("key") or ""):
        yield invalid(f"{where}.key", expression.get("key") or "", problem)


def _one_reference(registration: Manifest, _where: str) -> Iterator[Problem]:
    references = value_at(registration, _REFERENCES) or ()
    if len(references) > 1:
        yield forbidden(_REFERENCES, "only one deployment reference is allowed")
    for name in ("type", "providerConfig"):
        if references and value_at(registration, f"spec.deployment.{name}") is not None:
            yield forbidden(f"spec.deployment.{name}", "must not be set beside deploymentRefs")


def _primary_stays(new: Manifest, old: Manifest) -> Iterator[Problem]:
    """Who controls a type primarily keeps doing so while it lists the type."""
    before = {_listed(resource): resource for resource in objects_at(old, "spec", "resources")}
    for index, resource in enumerate(objects_at(new, "spec", "resources")):
        former = before.get(_listed(resource))
        if former is not None and (former.get("primary") is False) != (resource.get("primary") is False):
            yield invalid(f"spec.resources[{index}].primary", resource.get("primary"), FIELD_IS_IMMUTABLE)


def _listed(resource: Mapping[str, Any]) -> tuple[Any, Any]:
    return resource.get("kind"), resource.get("type")


_RESOURCE: Final = (
    field("kind", TEXT, required, one_of(_SUPPORTED)),
    field("type", TEXT, required),
    field("primary", BOOLEAN),
    field("globallyEnabled", BOOLEAN),
    field("workerlessSupported", BOOLEAN),
    field("reconcileTimeout", TEXT),
    Line({f"lifecycle.{name}": TEXT for name in LIFECYCLE}),
    Line(checks=(_only_of_extensions, _lifecycle_supported, _timeout_positive)),
)
_EXPRESSION: Final = (
    field("key", TEXT),
    field("operator", TEXT),
    field("values[]", TEXT),
    Line(checks=(_selector_expression,)),
)

REGISTRATION: Final = build_kind(
    CONTROLLER_REGISTRATIONS,
    each("spec.resources", *_RESOURCE),
    Line(checks=(_listed_once,)),
    field("spec.deployment.policy", TEXT, one_of(tuple(Policy), unless=(None,))),
    Line({_SELECTOR: OBJECT}, (_selector_of_secondaries,)),
    Line({f"{_SELECTOR}.matchLabels{{}}": TEXT}, (_selector_labels,)),
    each(f"{_SELECTOR}.matchExpressions", *_EXPRESSION),
    Line(checks=(_one_reference,)),
    each(_REFERENCES, field("name", TEXT, required)),
    field("spec.deployment.type", TEXT, not_empty_if_present),
    Line(change_checks=(_primary_stays,)),
    name_problem=dns_label_problem,
)
DEPLOYMENT: Final = build_kind(CONTROLLER_DEPLOYMENTS, field("type", TEXT, required), name_problem=dns_label_problem)
INSTALLATION: Final = build_kind(
    CONTROLLER_INSTALLATIONS,
    *(field(f"spec.{name}.name", TEXT, required, is_immutable=True) for name in ("registrationRef", "seedRef")),
    field("spec.deploymentRef.name", TEXT),
    name_problem=dns_label_problem,
)
_KINDS: Final[Mapping[str, Kind]] = {kind.resource.kind: kind for kind in (REGISTRATION, DEPLOYMENT, INSTALLATION)}


def problems_of(kind: str, new: Manifest, old: Manifest | None = None) -> tuple[Problem, ...]:
    """What is wrong with an object that is created or, given what is stored, updated.

    If fields have a wrong type, only these are told.

    Args:
        kind: of the three that this module is about.
        new: as it was sent; a registration gets its defaults first.
        old: as it is stored.
    """
    rules = _KINDS[kind]
    misfits = rules.misfits(new) or (rules.misfits(old) if old is not None else ())
    if misfits:
        return misfits
    if kind == CONTROLLER_REGISTRATIONS.kind:
        new, old = with_defaults(new), None if old is None else with_defaults(old)
    return tuple(rules.errors(new, old))


def other_primary(new: Registration, others: Iterable[Registration]) -> str | None:
    """The kind and type that a registration controls primarily although another one does; none if there is none."""
    taken = {served.id for other in others if other.name != new.name for served in other.served if served.primary}
    return next((served.id for served in new.served if served.primary and served.id in taken), None)
