"""The controller that provides for the certificates of a webhook server. Every replica runs it, not the leader alone.

Every turn reads the registrations first and the Secret afterwards. A replica that stores new authorities adds them to
the registrations later: a registration that was read before the Secret has no authority that the Secret lacks. So the
registrations trust at each moment what each replica serves. A pair that cannot be replaced stays in use.
"""

from typing import Final

from hedgerow.admission.provisioning.agreement import ProvisioningConfig, agreed
from hedgerow.admission.provisioning.issuance import Lifetimes
from hedgerow.admission.provisioning.permissions import REGISTRATIONS
from hedgerow.admission.provisioning.publication import CONFLICT, published, read
from hedgerow.api.kubernetes import SECRETS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.failures import retryable_failure
from hedgerow.machinery.objects import ObjectKey, key_of
from hedgerow.machinery.plan import ApiError, Plan, failed
from hedgerow.machinery.questions import Found, ObjectQuestion
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import AtOnce

CONTROLLER: Final = "webhook-certificates"
MISSING: Final = "does not exist, so that no certificate can be kept: apply the installation again"
PERIOD: Final = 10.0
"""Seconds between two turns."""
AT_ONCE: Final = 0.1
"""Seconds until a replica reads again what another one has just written."""
TURNS_OF_A_LIFE: Final = 100
"""How many turns there are at least while a certificate is valid."""
LONGEST_WAIT: Final = 30.0
"""Seconds after failures."""


def provisioning_controller(config: ProvisioningConfig) -> Controller[ProvisioningConfig]:
    """The controller for a configuration; it watches nothing."""
    return Controller(
        name=CONTROLLER,
        primary=SECRETS,
        primary_cluster=Cluster.SOURCE,
        watches=(),
        concurrency=1,
        config=config,
        reconcile=reconcile,
        periodic=True,
        longest_wait=min(LONGEST_WAIT, 3 * period(config.lifetimes)),
    )


async def reconcile(_key: ObjectKey, _snapshot: Snapshot, context: Context[ProvisioningConfig]) -> Plan:
    """Bring Secret, server and registrations to what is due now."""
    config = context.config
    questions = tuple(
        ObjectQuestion(REGISTRATIONS[each["kind"]], key_of(each), Cluster.TARGET) for each in config.registrations
    )
    registrations = [
        read(wanted, answer) for wanted, answer in zip(config.registrations, await AtOnce(questions), strict=True)
    ]
    answer = await ObjectQuestion(SECRETS, config.secret, Cluster.SOURCE)
    if not isinstance(answer, Found):
        problem = MISSING if answer.is_not_found else f"cannot be read: {answer.message}"
        return failed(retryable_failure(SECRETS, config.secret, problem))
    content = await agreed(
        answer.objects[0],
        [each.live for each in registrations if each.live is not None],
        config,
        are_all_known=not any(each.is_unknown for each in registrations),
    )
    if content is None:
        return Plan(failures=tuple(each.failure for each in registrations if each.failure is not None))
    if isinstance(content, ApiError):
        if content.reason == CONFLICT:
            return Plan(requeue_after=AT_ONCE)
        return failed(retryable_failure(SECRETS, config.secret, f"cannot be written: {content.message}"))
    result = await published(content, registrations, config.secret)
    return Plan(failures=result.failures, requeue_after=AT_ONCE if result.is_outdated else period(config.lifetimes))


def period(lifetimes: Lifetimes) -> float:
    """Seconds between two turns; less for certificates of short life."""
    return min(PERIOD, lifetimes.certificate.total_seconds() / TURNS_OF_A_LIFE)
