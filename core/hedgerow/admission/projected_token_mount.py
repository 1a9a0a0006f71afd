"""Mount a token that expires into pods whose ServiceAccount mounts none itself.

Source: webhooks-and-tokens §6.2.
"""

from collections.abc import Mapping
from typing import Any, Final

from returns.result import Failure, Result, Success

from hedgerow.admission.decision import Allowed, Decision, Denied, forbidden, unanswered
from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.webhook import Webhook, apply_rules, mutating
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
VOLUME_PREFIX: Final = "kube-api-access-"
"""Of the names of volumes with a token, also of those that Kubernetes adds."""
VOLUME: Final = f"{VOLUME_PREFIX}gardener"
MOUNT_PATH: Final = "/var/run/secrets/kubernetes.io/serviceaccount"


async def review(request: AdmissionRequest, snapshot: Snapshot, expiration_seconds: int) -> Decision:
    """The decision about a pod, whose ServiceAccount is looked up; it may be too new for the cache."""
    name = account_name(request.object)
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

    Args:
        request: the creation of a Pod.
        service_account: the pod's; none if it does not exist.
        expiration_seconds: for how long the token is valid, unless the pod says otherwise.
    """
    pod = request.object
    name = account_name(pod)
    if name is None:
        return Allowed()
    if service_account is None:
        return Denied(404, f'ServiceAccount "{name}" not found', "NotFound")
    if not lacks_a_token(pod, service_account):
        return Allowed()
    seconds = requested_seconds(pod, expiration_seconds)
    if isinstance(seconds, Failure):
        return forbidden(seconds.failure())
    volume = token_volume(seconds.unwrap())
    return apply_rules(pod, [("token-volume", lambda pod: with_volume(pod, volume)), ("token-mounts", with_mounts)])


def account_name(pod: Manifest) -> str | None:
    """The ServiceAccount that a pod names; none for the default one, which this webhook leaves alone."""
    name = text_at(pod, "spec", "serviceAccountName")
    return None if name in {None, "", "default"} else name


def lacks_a_token(pod: Manifest, service_account: Manifest) -> bool:
    """True if the ServiceAccount mounts no token, the pod does not refuse one, and no volume of it holds one."""
    return (
        boolean_at(service_account, "automountServiceAccountToken") is False
        and boolean_at(pod, "spec", "automountServiceAccountToken") is not False
        and not any(
            name.startswith(VOLUME_PREFIX)
            for name in each_at(lambda volume: text_at(volume, "name") or "", pod, "spec", "volumes")
        )
    )


def requested_seconds(pod: Manifest, otherwise: int) -> Result[int, str]:
    """For how long the token is valid: the pod's annotation or `otherwise`; or what is wrong with the annotation."""
    text = text_at(pod, "metadata", "annotations", MOUNT_EXPIRATION)
    if text is None:
        return Success(otherwise)
    return parse_int(text, 64).alt(lambda problem: f"{annotation_path(MOUNT_EXPIRATION)}: {problem}")


def with_volume(pod: Manifest, volume: Manifest) -> Manifest:
    """The pod with one volume more."""
    return with_value(pod, ("spec", "volumes"), [*list_at(pod, "spec", "volumes"), volume])


def with_mounts(pod: Manifest) -> Manifest:
    """The pod whose containers all mount the volume, whatever else they mount there."""
    return with_each(with_each(pod, ("spec", "containers"), _mounting), ("spec", "initContainers"), _mounting)


def _mounting(container: Mapping[str, Any]) -> Mapping[str, Any]:
    mount = {"name": VOLUME, "mountPath": MOUNT_PATH, "readOnly": True}
    return with_value(container, ("volumeMounts",), [*list_at(container, "volumeMounts"), mount])


def token_volume(seconds: int) -> Manifest:
    """The volume with the token, the cluster's CA and the name of the namespace."""
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": seconds, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"name": VOLUME, "projected": {"defaultMode": 0o644, "sources": sources}}


def webhook(expiration_seconds: int) -> Webhook:
    """The webhook, which looks up ServiceAccounts."""
    return Webhook(
        NAME,
        "/webhooks/mount-projected-service-account-token",
        mutating(PODS, lambda request, snapshot: review(request, snapshot, expiration_seconds)),
        reads=(Read(SERVICE_ACCOUNTS, transform_service_account),),
        permissions=(Permission.of(SERVICE_ACCOUNTS, "get"),),
    )
