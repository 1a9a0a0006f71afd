"""The files and ports of one control plane, and the flags its servers get from them."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """Where everything of one control plane is."""

    folder: Path
    port: int

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def certificates(self) -> Path:
        """Where the API server puts the certificate that it makes for itself."""
        return self.folder / "certificates"

    @property
    def certificate(self) -> Path:
        return self.certificates / "apiserver.crt"

    @property
    def certificate_key(self) -> Path:
        return self.certificates / "apiserver.key"

    @property
    def signing_key(self) -> Path:
        return self.folder / "service-account.key"

    @property
    def tokens(self) -> Path:
        return self.folder / "tokens.csv"

    @property
    def audit_policy(self) -> Path:
        return self.folder / "audit-policy.yaml"

    @property
    def audit_log(self) -> Path:
        return self.folder / "audit.log"

    @property
    def ca_file(self) -> Path:
        return self.folder / "ca.pem"

    @property
    def kubectl_cache(self) -> Path:
        return self.folder / "kubectl-cache"

    def kubeconfig(self, user: str) -> Path:
        return self.folder / f"{user}.kubeconfig"

    def log(self, server: str) -> Path:
        return self.folder / f"{server}.log"


def api_server_flags(layout: Layout, *, etcd_url: str) -> dict[str, str]:
    """Everything on loopback, RBAC on, every request audited, and no compaction that no test asked for."""
    return {
        "etcd-servers": etcd_url,
        "etcd-compaction-interval": "0",
        "bind-address": "127.0.0.1",
        "advertise-address": "127.0.0.1",
        "secure-port": str(layout.port),
        "cert-dir": str(layout.certificates),
        # A loopback address may not stand in the endpoints of the service "kubernetes", which nobody needs here.
        "endpoint-reconciler-type": "none",
        "service-cluster-ip-range": "10.0.0.0/24",
        "authorization-mode": "RBAC",
        "token-auth-file": str(layout.tokens),
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-signing-key-file": str(layout.signing_key),
        "service-account-key-file": str(layout.signing_key),
        # Needs the service accounts that a controller would make in each namespace.
        "disable-admission-plugins": "ServiceAccount",
        "audit-policy-file": str(layout.audit_policy),
        "audit-log-path": str(layout.audit_log),
        # Megabytes: the log is never rotated, as its readers keep positions in it.
        "audit-log-maxsize": "100000",
        # Without it, a graceful stop waits for clients to end their watches, which they never do.
        "shutdown-watch-termination-grace-period": "1s",
        "profiling": "false",
    }


def controller_manager_flags(
    layout: Layout, *, kubeconfig: Path, port: int, controllers: Collection[str]
) -> dict[str, str]:
    """Only the controllers asked for, without an election, with the API server's certificate."""
    return {
        "kubeconfig": str(kubeconfig),
        "controllers": ",".join(controllers),
        "leader-elect": "false",
        "bind-address": "127.0.0.1",
        "secure-port": str(port),
        "tls-cert-file": str(layout.certificate),
        "tls-private-key-file": str(layout.certificate_key),
        "service-account-private-key-file": str(layout.signing_key),
        "authentication-skip-lookup": "true",
        "kube-api-qps": "500",
        "kube-api-burst": "1000",
        "profiling": "false",
    }
