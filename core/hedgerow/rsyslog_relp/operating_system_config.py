"""The webhook that adds files and a unit to the OperatingSystemConfigs of Shoots that have the extension.

Decides from the OperatingSystemConfig, the Cluster, the Extension and, with TLS, the Secret with certificates. The
Secret is read live, and so is what the caches lack. Files refer to it; private keys never stand in an
OperatingSystemConfig.

Source: rsyslog-relp §7; decisions D-10, D-11.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, Final, TypeAlias

from returns.result import Failure as Failed

from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.webhook import INVALID, Allowed, Decision, Denied, Webhook, apply_rules, mutating
from hedgerow.api.gardener import CLUSTERS, EXTENSIONS, OPERATING_SYSTEM_CONFIGS
from hedgerow.api.kubernetes import SECRETS
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Read
from hedgerow.machinery.failures import joined
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.questions import Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import list_at, object_at, text_at, with_value
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.rsyslog_relp.config import TLS, RsyslogRelpConfig, decode
from hedgerow.rsyslog_relp.naming import DEFAULT_PATHS, REFERENCE_PREFIX, TYPE, UNIT, HostPaths
from hedgerow.rsyslog_relp.rendering import (
    ShootIdentity,
    audit_rules,
    configurator_unit,
    configure_script,
    pstats_script,
    rsyslog_configuration,
)
from hedgerow.rsyslog_relp.seed import transform_cluster, transform_extension
from hedgerow.rsyslog_relp.validation import PublicKey, config_problems, resource_reference, secret_problem

NAME: Final = "operating-system-config"
PATH: Final = "/operating-system-config"
RECONCILE: Final = "reconcile"
"""The purpose of an OperatingSystemConfig that nodes follow as long as they live."""
PRIVATE: Final = 0o600
EXECUTABLE: Final = 0o744
CERTIFICATE_FILES: Final = (("ca.crt", "ca"), ("tls.crt", "crt"), ("tls.key", "key"))
"""Each file with certificates, and its key in the Secret."""

SHOOTS: Final = 500
"""Shoots whose rendered configuration is remembered: each has an OperatingSystemConfig for every pool of workers."""

Entry: TypeAlias = Mapping[str, Any]


def operating_system_config_webhook(
    paths: HostPaths = DEFAULT_PATHS, *, public_key: PublicKey | None = None
) -> Webhook:
    """The webhook; without `public_key` the values of Secrets may be anything."""
    return Webhook(
        NAME,
        PATH,
        mutating(OPERATING_SYSTEM_CONFIGS, partial(_reviewed, paths=paths, public_key=public_key)),
        reads=(Read(CLUSTERS, transform_cluster), Read(EXTENSIONS, transform_extension)),
        permissions=tuple(Permission.of(resource, "get") for resource in (CLUSTERS, EXTENSIONS, SECRETS)),
    )


async def _reviewed(
    request: AdmissionRequest, snapshot: Snapshot, *, paths: HostPaths, public_key: PublicKey | None
) -> Decision:
    """Read what the files depend on, and add them."""
    osc, namespace = request.object, request.namespace
    if text_at(osc, "metadata", "deletionTimestamp") or text_at(osc, "spec", "purpose") != RECONCILE:
        return Allowed()
    shoot = await _shoot(namespace, snapshot)
    if isinstance(shoot, Denied):
        return shoot
    if text_at(shoot, "metadata", "deletionTimestamp"):
        return Allowed()
    config = await _config(namespace, snapshot)
    if isinstance(config, Denied):
        return config
    secret = await _secret(namespace, shoot, config.active_tls, public_key)
    if isinstance(secret, Denied):
        return secret
    identity = shoot_identity(namespace, shoot)
    return apply_rules(osc, [("rsyslog-relp", lambda osc: with_node_files(osc, config, identity, secret, paths))])


async def _shoot(namespace: str, snapshot: Snapshot) -> Manifest | Denied:
    """The Shoot of a namespace, which stands in the Cluster of its name."""
    key = ObjectKey("", namespace)
    cluster = snapshot.get(CLUSTERS, key) or await _read(CLUSTERS, key)
    if isinstance(cluster, NotAnswered):
        return _denied(f"could not get cluster for namespace '{namespace}': {cluster.message}", cluster)
    return object_at(cluster, "spec", "shoot") or _denied("cluster.shoot is not yet populated")


async def _config(namespace: str, snapshot: Snapshot) -> RsyslogRelpConfig | Denied:
    """The valid configuration in the Extension of a namespace."""
    key = ObjectKey(namespace, TYPE)
    extension = snapshot.get(EXTENSIONS, key) or await _read(EXTENSIONS, key)
    if isinstance(extension, NotAnswered):
        return _denied(f"failed to get extension '{namespace}/{TYPE}': {extension.message}", extension)
    config = provider_config(object_at(extension, "spec").get("providerConfig"))
    return _denied(config) if isinstance(config, str) else config


async def _secret(
    namespace: str, shoot: Manifest, tls: TLS | None, public_key: PublicKey | None
) -> str | Denied | None:
    """The name of the valid Secret with certificates; none without TLS."""
    if tls is None:
        return None
    name = referenced_secret(shoot, tls)
    if name is None:
        return _denied(
            f"failed to find referenced resource with name {tls.secret_reference_name} and kind {SECRETS.kind}"
        )
    key = ObjectKey(namespace, name)
    secret = await _read(SECRETS, key)
    if isinstance(secret, NotAnswered):
        cause = f"failed to read referenced secret {name} for reference {tls.secret_reference_name}"
        return _denied(f"referenced secret is not valid: {cause}", secret)
    problem = secret_problem(key, object_at(secret, "data"), public_key)
    return _denied(f"referenced secret is not valid: {problem}") if problem else name


def provider_config(document: object) -> RsyslogRelpConfig | str:
    """The valid configuration that an Extension states, or why there is none.

    The reference's rules hold, so that no configuration stops rsyslog on a node that admission never saw.
    """
    if document is None:
        return "failed to decode provider config: provider config is required"
    decoded = decode(document, is_strict=False)
    if isinstance(decoded, Failed):
        return f"failed to decode provider config: {joined(decoded.failure())}"
    config = decoded.unwrap()
    problems = config_problems(config, is_strict=False)
    return joined(problems) if problems else config


def referenced_secret(shoot: Manifest, tls: TLS) -> str | None:
    """The name of the copied Secret that a Shoot's resources name; none if they name none, or something else."""
    kind, name = resource_reference(shoot, tls.secret_reference_name) or ("", "")
    return f"{REFERENCE_PREFIX}{name}" if kind == SECRETS.kind else None


def shoot_identity(namespace: str, shoot: Manifest) -> ShootIdentity:
    """Project, name and uid of a Shoot; the project stands in the name of the namespace.

    Source: rsyslog-relp §8, "Project name".
    """
    name = text_at(shoot, "metadata", "name") or ""
    project = namespace.removeprefix("shoot-").removesuffix(f"-{name}").strip("-")
    return ShootIdentity(project, name, text_at(shoot, "metadata", "uid") or "")


def with_node_files(
    osc: Manifest, config: RsyslogRelpConfig, shoot: ShootIdentity, secret: str | None, paths: HostPaths = DEFAULT_PATHS
) -> Manifest:
    """The OperatingSystemConfig with the extension's files and unit, which replace those at the same path or name.

    The same object is returned if it has all of them. Without a Secret there are no certificates.
    """
    for field, key, entries in (
        ("files", "path", [*node_files(config, shoot, secret, paths)]),
        ("units", "name", [_unit(paths)]),
    ):
        before = list_at(osc, "spec", field)
        after = _upserted(before, entries, key)
        if after != before:
            osc = with_value(osc, ("spec", field), after)
    return osc


def node_files(
    config: RsyslogRelpConfig, shoot: ShootIdentity, secret: str | None, paths: HostPaths = DEFAULT_PATHS
) -> Iterator[Entry]:
    """The extension's files on a node, as entries of `spec.files`, in their order; arguments as `with_node_files`."""
    for name, key in CERTIFICATE_FILES if secret else ():
        content = {"secretRef": {"name": secret, "dataKey": key}}
        yield {"path": f"{paths.tls_staged_dir}/{name}", "permissions": PRIVATE, "content": content}
    yield _configuration_file(config, shoot, paths)
    yield from _files_of_every_node(paths)


@lru_cache(maxsize=SHOOTS)
def _configuration_file(config: RsyslogRelpConfig, shoot: ShootIdentity, paths: HostPaths) -> Entry:
    """The file that every OperatingSystemConfig of a Shoot gets."""
    return _inline(paths.conf_staged, rsyslog_configuration(config, shoot, paths))


@cache
def _files_of_every_node(paths: HostPaths) -> tuple[Entry, ...]:
    """The files that no configuration changes."""
    return (
        _inline(paths.configure_script, configure_script(paths)),
        _inline(paths.pstats_script, pstats_script(paths)),
        *(_inline(f"{paths.audit_staged_dir}/{name}", text) for name, text in audit_rules().items()),
    )


@cache
def _unit(paths: HostPaths) -> Entry:
    return {"name": UNIT, "command": "start", "enable": True, "content": configurator_unit(paths)}


def _inline(path: str, text: str) -> Entry:
    data = b64encode(text.encode()).decode("ascii")
    return {"path": path, "permissions": EXECUTABLE, "content": {"inline": {"encoding": "b64", "data": data}}}


def _upserted(entries: Sequence[Any], ours: Sequence[Entry], key: str) -> list[Any]:
    """Entries with ours at the first entry of the same key each, or else at the end."""
    result = [*entries]
    missing = {entry[key]: entry for entry in ours}
    for place, entry in enumerate(entries):
        identity = entry.get(key) if isinstance(entry, dict) else None
        if isinstance(identity, str) and identity in missing:
            result[place] = missing.pop(identity)
    return [*result, *missing.values()]


async def _read(resource: Resource, key: ObjectKey) -> Manifest | NotAnswered:
    answer = await ObjectQuestion(resource, key, Cluster.TARGET)
    return answer.objects[0] if isinstance(answer, Found) else answer


def _denied(message: str, answer: NotAnswered | None = None) -> Denied:
    """The denial with a message; of a read that failed without proof that the object is absent, undecided."""
    return Denied(INVALID, message, is_undecided=answer is not None and not answer.is_not_found)
