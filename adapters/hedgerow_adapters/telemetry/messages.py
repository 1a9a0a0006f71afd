"""The log messages: every text that stands as `msg` in a line, with its level, its members and its meaning.

No other text reaches `msg`, so that people can search and count lines; what varies stands in members. A new message is
an entry here, from which `docs/operations.md` is made.
"""

from enum import Enum
from typing import Final, Literal, TypeAlias

Severity: TypeAlias = Literal["debug", "info", "warning", "error"]


class Message(Enum):
    """A message: text, level, meaning, members; any line may have `COMMON` as well."""

    text: str
    severity: Severity
    meaning: str
    """For people who run the process, and may want to do something about it."""
    members: tuple[str, ...]

    def __init__(self, text: str, severity: Severity, meaning: str, members: str = "") -> None:
        self.text = text
        self.severity = severity
        self.meaning = meaning
        self.members = tuple(members.split())

    # The process

    STARTING = (
        "Starting",
        "info",
        "the first line: which component, which version, and its command line",
        "component version flags",
    )
    ODD_CONFIGURATION = (
        "Configuration is odd",
        "warning",
        "an unknown field, or one without effect: correct the file",
        "warning",
    )
    CONTROLLER_WORKS = (
        "Controller works",
        "info",
        "its caches are complete, and this process may write: `role` is `leader`, or `without leader election`",
        "role watches",
    )
    STOPPING = ("Stopping", "info", "the process was told to stop, and finishes what it is at")
    STOPPED = ("Stopped", "info", "the last line after an orderly stop")
    PROCESS_FAILED = (
        "Process failed",
        "error",
        (
            "the process cannot start, or cannot go on, and exits with code 1: `error` says why, `field` which "
            "field of the configuration is concerned, `file` in which file; a line for each error of a "
            "configuration"
        ),
        "error field file",
    )
    PROCESS_DEFECT = ("Process ended with a defect", "error", "a bug; the process exits with code 1", "stacktrace")
    STUCK = (
        "Process is stuck",
        "error",
        (
            "the process exits with code 1 because it has not responded for 60 s, or has not stopped in time; "
            "`stacktrace` says where it hangs"
        ),
        "error stacktrace",
    )
    PROBE_FAILED = ("Probe failed", "info", "which endpoint, and of each failed check why", "endpoint checks")

    # Clusters

    SERVER_UNREACHABLE = (
        "API server is unreachable, trying again",
        "error",
        "no decision is made without data; the process goes on by itself: see the network, or the API server",
        "connection server error",
    )
    SERVER_REACHABLE = ("API server is reachable again", "info", "the end of that trouble", "connection server")
    CREDENTIALS_UNUSABLE = (
        "Changed credentials are not usable, the last ones stay in use",
        "error",
        "correct the files before the last ones expire",
        "field error",
    )
    CREDENTIALS_REFUSED = (
        "API server refuses the credentials",
        "error",
        "it answers 401: a token or certificate expired or was revoked: [runbook](#runbook), `HedgerowUnauthorized`",
        "connection server field",
    )
    CREDENTIALS_ACCEPTED = (
        "API server accepts the credentials again",
        "info",
        "the end of that trouble",
        "connection server field",
    )
    UNKNOWN_CLUSTER = (
        "It would not be noticed if a connection led to another cluster",
        "warning",
        "give the role `get` of the namespace `kube-system`, whose uid tells clusters apart",
        "connection error",
    )
    NAMESPACE_MISSING = (
        "Namespace does not exist",
        "warning",
        "the configuration names it for this cluster, and nothing is done there: correct the name, or create it",
        "connection namespace",
    )
    NO_CLUSTER_ID = (
        "Cluster id cannot be determined, trying again",
        "error",
        "the process waits for the API server, without which it cannot know its cluster",
        "error",
    )
    EVENT_NOT_RECORDED = (
        "Event was not recorded",
        "warning",
        "the API server refused an Event: most often the role lacks `create` and `patch` of `events.events.k8s.io`",
        "error",
    )

    # Leader election

    LEADER_ELECTION = (
        "Leader election",
        "info",
        "`what` has happened: `leading`, `new leader`, `released`, `abandoned`, `recovered`",
        "lease what detail",
    )
    ELECTION_TROUBLE = (
        "Leader election failed",
        "error",
        (
            "`lost`: the process may write no longer, and exits; `forbidden`: the role lacks `leases`; `failed`: "
            "an attempt that is repeated"
        ),
        "lease what detail",
    )
    LEASE_NOT_RELEASED = (
        "The lease could not be given back, it runs out by itself",
        "warning",
        "another replica goes on `leaderElection.leaseDuration` later",
    )

    # Caches

    WATCH_INTERRUPTED = (
        "Watch interrupted",
        "warning",
        (
            "the cache of a resource may be stale: `cause` is `forbidden` (the role lacks `list` or `watch`), "
            "`disconnected`, `refused` (`error` quotes the API server), `expired`, `absent` (the API server does not "
            "serve the resource) or the like"
        ),
        "resource cause error",
    )
    WATCHES_BACK = ("Watches are back", "info", "all watches work again")
    WATCH_ENDED = ("Watch ended", "debug", "in good order; it is opened again", "resource cause")
    CACHES_COMPLETE = ("Caches are complete", "info", "everything that a controller, or the webhooks, read was listed")
    CACHES_BEHIND = (
        "Caches do not show own writes",
        "warning",
        "a key goes on although the process has not seen what it wrote itself: the API server's watches are slow",
    )
    IDLE = (
        "Nothing to do before the API server knows the resource",
        "warning",
        "the definition of a controller's resource is not installed; the controller begins once it is there",
        "resource",
    )

    # Controllers

    STARTING_WORKERS = (
        "Starting workers",
        "info",
        "how many keys are reconciled at a time, three for each of `concurrentSyncs`, and how many wait",
        "workers keys",
    )
    RECONCILED = ("Reconciled", "debug", "the end of a turn of a key", "result seconds")
    CARRIED_OUT = (
        "Carried out",
        "info",
        "a write; `reason` is the rule that asked for it",
        "action resource key reason",
    )
    NOT_CARRIED_OUT = (
        "Could not carry out",
        "error",
        "the API server has refused a write",
        "action resource key reason error",
    )
    NOT_RECONCILED = (
        "Could not reconcile",
        "error",
        "`error` names object, field and problem; missing permissions and bad input are told so",
        "error",
    )
    WARNED = (
        "Warned",
        "warning",
        "an Event of type Warning was recorded on the object; see [Events](#events)",
        "reason note",
    )
    TOO_LONG = ("Reconciliation took too long", "error", "a turn was ended after three minutes; it is tried again")
    DEFECT = ("Reconciliation ended with a defect", "error", "a bug; the key is tried again", "stacktrace")
    NOT_MAPPED = (
        "Could not map a change",
        "error",
        "a bug; the keys that a change concerns are reconciled at the next resync",
        "resource stacktrace",
    )
    HELD = ("Held deletions back", "error", "see the event `DeletionsHeld`", "deletions")
    CONFLICT = ("Write conflict", "warning", "see the event `WriteConflict`", "what resource key managers wait")
    NO_HELM = (
        "Charts cannot be rendered",
        "error",
        "installations from charts fail until the program is there; the process goes on",
        "field error",
    )
    RECORDING_ENDED = (
        "Decisions are not recorded any more",
        "error",
        "the file of `--record` cannot be written; the process goes on",
        "error",
    )
    RECORDING_GAP = ("Decision was not recorded", "error", "the others are", "error")

    # Webhooks

    SERVING_WEBHOOKS = ("Serving webhooks", "info", "from now on, on every replica", "address webhooks")
    CHANGED = ("Changed", "debug", "an object was changed, by these rules", "webhook operation resource key uid rules")
    DENIED = (
        "Denied",
        "info",
        "an operation was denied: `fields` names those of an invalid object, `error` says any other reason",
        "webhook operation resource key uid code reason fields error",
    )
    UNDECIDED = (
        "Could not decide",
        "error",
        "an operation was denied that might have passed: the cluster did not tell what the webhook needs to know",
        "webhook operation resource key uid error",
    )
    REVIEW_DEFECT = (
        "Review ended with a defect",
        "error",
        "a bug; the operation was denied",
        "webhook operation resource key uid stacktrace",
    )
    UNREADABLE_REVIEW = (
        "Could not read a review",
        "warning",
        "a client that is no API server, or a registration for another version of reviews",
        "webhook error",
    )
    CROWDED_OUT = (
        "Too many reviews at once, refused with 429",
        "warning",
        "API servers call the webhook faster than it decides",
        "webhook error",
    )
    CERTIFICATE_READ = ("Serving certificate read", "info", "the next connection gets it", "not_after")
    CERTIFICATE_EXPIRES = (
        "Serving certificate expires soon",
        "error",
        "within seven days, and whatever renews it has not: said when it is read",
        "not_after",
    )
    CERTIFICATE_EXPIRED = (
        "Serving certificate has expired",
        "error",
        "`/readyz` fails from now on, as API servers refuse the certificate: renew it",
        "not_after",
    )
    CERTIFICATE_UNUSABLE = (
        "Cannot use the serving certificate",
        "error",
        "the last one stays in use: correct the files",
        "error",
    )

    # Ports

    HANDSHAKE_FAILED = (
        "TLS handshake failed",
        "warning",
        "a client does not trust the serving certificate, or speaks no TLS",
        "error",
    )
    MALFORMED = ("Malformed request", "debug", "a client that speaks no HTTP", "error")
    CROWDED = ("Too many connections", "warning", "at the port of `logger`: idle ones were closed for others")
    CANNOT_ACCEPT = (
        "Cannot take connections",
        "error",
        "at the port of `logger`: the system gives no files for more",
        "error",
    )
    LIBRARY = (
        "Library",
        "info",
        "a line of a library, which `logger` names, at the level that the library gives it",
        "text",
    )


COMMON: Final = ("ts", "level", "msg", "logger", "controller", "object", "reconcileID")
"""Members that any line may have."""
