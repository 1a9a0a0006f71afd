"""Who may talk to the API server: tokens, kubeconfigs and the key that signs service account tokens."""

import base64
import secrets
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

# DER of an EC private key on P-256 up to, and after, its 32 bytes. The public point is optional there.
_EC_KEY_PREFIX = bytes.fromhex("3031020101" + "0420")
_EC_KEY_SUFFIX = bytes.fromhex("a00a06082a8648ce3d030107")


@dataclass(frozen=True)
class User:
    """A user as the API server's token file names them."""

    name: str
    groups: tuple[str, ...] = ()
    token: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)


def token_file(users: Iterable[User]) -> str:
    """The API server's static token file: token, name, unique id and groups."""
    return "".join(f'{user.token},{user.name},{user.name},"{",".join(user.groups)}"\n' for user in users)


def users_from(groups_by_name: Mapping[str, Sequence[str]]) -> dict[str, User]:
    """Users with new tokens."""
    return {name: User(name, tuple(groups)) for name, groups in groups_by_name.items()}


def kubeconfig(user: User, *, url: str, ca_pem: str) -> str:
    """A kubeconfig whose one context is named after the user."""
    cluster = {"server": url, "certificate-authority-data": base64.b64encode(ca_pem.encode()).decode()}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "control-plane", "cluster": cluster}],
        "users": [{"name": user.name, "user": {"token": user.token}}],
        "contexts": [{"name": user.name, "context": {"cluster": "control-plane", "user": user.name}}],
        "current-context": user.name,
    }
    return yaml.safe_dump(document, sort_keys=False)


def new_signing_key() -> str:
    """A new P-256 private key in PEM.

    A private key is a random number, and the API server works out the public one: so no library for
    cryptography is needed. The first bit is cleared to stay below the order of the curve.
    """
    number = secrets.randbits(255) | 1
    body = base64.encodebytes(_EC_KEY_PREFIX + number.to_bytes(32, "big") + _EC_KEY_SUFFIX).decode()
    return f"-----BEGIN EC PRIVATE KEY-----\n{body}-----END EC PRIVATE KEY-----\n"


def authority_of(chain: Path) -> str:
    """The certificate of the authority: the API server writes it after its own in the file it generates."""
    begin = "-----BEGIN CERTIFICATE-----"
    return begin + chain.read_text(encoding="ascii").rpartition(begin)[2]


def write_private(path: Path, content: str) -> Path:
    """Writes a file that only its owner can read, at once: nobody ever reads half of it."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        file.write(content)
    Path(file.name).replace(path)
    return path
