"""Mount a token that expires into pods whose ServiceAccount mounts none itself.

Source: webhooks-and-tokens §6.2.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from returns.result import Failure, Result, Success

from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.webhook import Allowed, Decision, Denied, Webhook, apply_rules, forbidden, mutating, unanswered
from hedgerow.api.kubernetes import PODS, SERVICE_ACCOUNTS
from hedgerow.api.tokens import MOUNT_EXPIRATION, transform_service_account
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Read
from hedgerow.machinery.failures import annotation_path
from hedgerow.machinery.names import dns_subdomain_problem
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.questions import NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import boolean_at, each_at, list_at, text_at, with_each, with_value
from hedgerow.machinery.scalars import parse_int
from hedgerow.machinery.snapshot import Snapshot

NAME: Final = "projected-token-mount"
_VOLUME_PREFIX: Final = "kube-api-access-"
"""Of the names of volumes with a token, also of those that Kubernetes adds."""
_VOLUME: Final = f"{_VOLUME_PREFIX}gardener"
_MOUNT: Final = {"name": _VOLUME, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": True}


async def review(request: AdmissionRequest, snapshot: Snapshot, expiration_seconds: int) -> Decision:
    """The decision about a pod, whose ServiceAccount is looked up; it may be too new for the cache."""
    name = _account_name(request.object)
    if name is None:
        return Allowed()
    key = ObjectKey(request.namespace, name)
    account = snapshot.get(SERVICE_ACCOUNTS, key)
    # Nothing has checked the pod yet: no object can have another name, and no path of a request may hold one.
    if account is None and dns_subdomain_problem(name) is None:
        answer = await ObjectQuestion(SERVICE_ACCOUNTS, key, Cluster.TARGET)
        if isinstance(answer, NotAnswered):
            return unanswered(answer)
        account = next(iter(answer.objects), None)
    return decide(request, account, expiration_seconds)


def decide(request: AdmissionRequest, service_account: Manifest | None, expiration_seconds: int) -> Decision:
    """Mount a token into all containers of a pod whose ServiceAccount switched automatic mounting off.

    The ServiceAccount is the pod's, none if it does not exist. The token is valid for so many seconds, unless the pod
    says otherwise.
    """
    pod = request.object
    name = _account_name(pod)
    if name is None:
        return Allowed()
    if service_account is None:
        return Denied(404, f'ServiceAccount "{name}" not found', "NotFound")
    if not _lacks_a_token(pod, service_account):
        return Allowed()
    seconds = _requested_seconds(pod, expiration_seconds)
    if isinstance(seconds, Failure):
        return forbidden(seconds.failure())
    volume = _token_volume(seconds.unwrap())
    add_volume = partial(with_value, path=("spec", "volumes"), value=[*list_at(pod, "spec", "volumes"), volume])
    return apply_rules(pod, [("token-volume", add_volume), ("token-mounts", _with_mounts)])


def _account_name(pod: Manifest) -> str | None:
    """The ServiceAccount that a pod names; none for the default one, which this webhook leaves alone."""
    name = text_at(pod, "spec", "serviceAccountName")
    return None if name in {None, "", "default"} else name


def _lacks_a_token(pod: Manifest, service_account: Manifest) -> bool:
    """True if the ServiceAccount mounts no token, the pod does not refuse one, and no volume of it holds one."""
    return (
        boolean_at(service_account, "automountServiceAccountToken") is False
        and boolean_at(pod, "spec", "automountServiceAccountToken") is not False
        and not any(
            name.startswith(_VOLUME_PREFIX)
            for name in each_at(lambda volume: text_at(volume, "name") or "", pod, "spec", "volumes")
        )
    )


def _requested_seconds(pod: Manifest, otherwise: int) -> Result[int, str]:
    """For how long the token is valid: the pod's annotation or `otherwise`; or what is wrong with the annotation."""
    text = text_at(pod, "metadata", "annotations", MOUNT_EXPIRATION)
    if text is None:
        return Success(otherwise)
    return parse_int(text, 64).alt(lambda problem: f"{annotation_path(MOUNT_EXPIRATION)}: {problem}")


def _with_mounts(pod: Manifest) -> Manifest:
    def mounting(container: Mapping[str, Any]) -> Mapping[str, Any]:
        return with_value(container, ("volumeMounts",), [*list_at(container, "volumeMounts"), _MOUNT])

    return with_each(with_each(pod, ("spec", "containers"), mounting), ("spec", "initContainers"), mounting)


def _token_volume(seconds: int) -> Manifest:
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": seconds, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"name": _VOLUME, "projected": {"defaultMode": 0o644, "sources": sources}}


def webhook(expiration_seconds: int) -> Webhook:
    """The webhook, which looks up ServiceAccounts."""
    return Webhook(
        NAME,
        "/webhooks/mount-projected-service-account-token",
        mutating(PODS, lambda request, snapshot: review(request, snapshot, expiration_seconds)),
        reads=(Read(SERVICE_ACCOUNTS, transform_service_account),),
        permissions=(Permission.of(SERVICE_ACCOUNTS, "get"),),
    )
