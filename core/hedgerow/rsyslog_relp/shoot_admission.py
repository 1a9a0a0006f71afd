"""The webhook that refuses Shoots whose provider configuration, or Secret with certificates, is invalid.

Decides from the new Shoot and, with TLS, from the Secret that it refers to, which it reads live.

Source: rsyslog-relp §12; decision D-16.
"""

from collections.abc import Mapping
from typing import Any, Final

from returns.result import Failure as Failed

from hedgerow.admission.request import DELETE, AdmissionRequest
from hedgerow.admission.webhook import INVALID, Allowed, Deciding, Decision, Denied, Webhook, bad_request, readable
from hedgerow.api.gardener import SHOOTS
from hedgerow.api.kubernetes import SECRETS
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.failures import joined, required
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.questions import NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import boolean_at, object_at, objects_at, text_at
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.rsyslog_relp.config import TLS, RsyslogRelpConfig, decode
from hedgerow.rsyslog_relp.naming import TYPE
from hedgerow.rsyslog_relp.validation import (
    PublicKey,
    config_problems,
    config_warnings,
    resource_reference,
    secret_problem,
)

NAME: Final = "shoot-rsyslog-relp-admission"
PATH: Final = "/webhooks/validate"


def shoot_admission_webhook(*, is_strict: bool = True, public_key: PublicKey | None = None) -> Webhook:
    """The webhook.

    Args:
        is_strict: whether the rules beyond the reference's hold, too.
        public_key: reads the values of Secrets; without it they may be anything.
    """

    def review(request: AdmissionRequest, _snapshot: Snapshot) -> Deciding:
        return readable(_decision(request, public_key, is_strict=is_strict))

    return Webhook(NAME, PATH, review, permissions=(Permission.of(SECRETS, "get"),))


async def _decision(request: AdmissionRequest, public_key: PublicKey | None, *, is_strict: bool) -> Decision:
    """Check the configuration of a Shoot, then the Secret that it refers to."""
    if request.operation == DELETE:
        return Allowed()
    if problem := _type_problem(request):
        return bad_request(problem)
    # What is wrong with a Shoot must not keep anybody from removing its finalizers.
    if text_at(request.object, "metadata", "deletionTimestamp"):
        return Allowed()
    config = shoot_config(request.object, is_strict=is_strict)
    if isinstance(config, str):
        return Denied(INVALID, config)
    if config is None:
        return Allowed()
    denial = await _secret_denial(request, config.active_tls, public_key) if config.active_tls else None
    return denial or Allowed(warnings=config_warnings(config))


def _type_problem(request: AdmissionRequest) -> str | None:
    kind = request.kind
    if kind.kind != SHOOTS.kind or kind.group != SHOOTS.group:
        return f"unexpected request kind {kind.api_version}, Kind={kind.kind}"
    return None if isinstance(request.object, Mapping) else "there is no object in the request"


def shoot_config(shoot: Manifest, *, is_strict: bool) -> RsyslogRelpConfig | str | None:
    """The valid provider configuration of a Shoot, or what is wrong with it; none if the extension is not enabled."""
    extensions = enumerate(objects_at(shoot, "spec", "extensions"))
    ours = [(index, each) for index, each in extensions if text_at(each, "type") == TYPE]
    if not ours or boolean_at(ours[0][1], "disabled"):
        return None
    index, extension = ours[0]
    document: Any = extension.get("providerConfig")
    if document is None:
        detail = "Rsyslog relp configuration is required when using gardener-extension-shoot-rsyslog-relp"
        return str(required(f"spec.extensions[{index}].providerConfig", detail))
    decoded = decode(document, is_strict=True)
    if isinstance(decoded, Failed):
        return joined(decoded.failure())
    problems = config_problems(decoded.unwrap(), is_strict=is_strict)
    return joined(problems) if problems else decoded.unwrap()


async def _secret_denial(request: AdmissionRequest, tls: TLS, public_key: PublicKey | None) -> Denied | None:
    """Why the Secret with certificates will not do; none: it will."""
    reference = resource_reference(request.object, tls.secret_reference_name)
    if reference is None:
        return Denied(INVALID, f"missing or invalid referenced resource: {tls.secret_reference_name}")
    kind, name = reference
    if kind != SECRETS.kind:
        problem = f"expected kind {SECRETS.kind}, not {kind}: {tls.secret_reference_name}"
        return Denied(INVALID, f"invalid referenced resource, {problem}")
    key = ObjectKey(request.namespace, name)
    answer = await ObjectQuestion(SECRETS, key, Cluster.TARGET)
    if not isinstance(answer, NotAnswered):
        found = secret_problem(key, object_at(answer.objects[0], "data"), public_key)
        return Denied(INVALID, found) if found else None
    if answer.is_not_found:
        return Denied(INVALID, f"referenced secret {key} does not exist")
    return Denied(INVALID, f"failed to get referenced secret {key} with error: {answer.message}", is_undecided=True)
