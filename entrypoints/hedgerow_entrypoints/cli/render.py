"""`hedgerow render`: what a component makes of its configuration, to look at it or to try it out."""

from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
from returns.result import Failure

from hedgerow.api.kubernetes import SECRETS
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.rsyslog_relp.config import RsyslogRelpConfig, decode_text
from hedgerow.rsyslog_relp.naming import DEFAULT_PATHS, HostPaths
from hedgerow.rsyslog_relp.operating_system_config import node_files
from hedgerow.rsyslog_relp.rendering import ShootIdentity, configurator_unit
from hedgerow.rsyslog_relp.validation import config_problems, config_warnings, secret_problem
from hedgerow_adapters.files.decoding import single_document
from hedgerow_adapters.files.sources import SourceText, source_texts
from hedgerow_adapters.public_keys import public_key
from hedgerow_entrypoints.cli.options import standard_input
from hedgerow_entrypoints.cli.render_installation import controller_installation
from hedgerow_entrypoints.errors import CommandError, note

UNIT_MODE: Final = 0o644
FOLDER_MODE: Final = 0o755


class NodeFile(NamedTuple):
    """One file of a node."""

    path: str
    mode: int
    content: bytes


@click.group(name="render")
def command() -> None:
    """Write the files that a component puts on nodes, or the objects that it makes."""


command.add_command(controller_installation)


@command.command(name="rsyslog-relp", short_help="Write what shoot-rsyslog-relp puts on the nodes of a Shoot.")
@click.option("-f", "--filename", "path", required=True, metavar="FILE", help="RsyslogRelpConfig, or -.")
@click.option("--out", "folder", required=True, metavar="DIR", help="Where to write; must be empty, or not exist.")
@click.option("--secret", "secret_path", metavar="FILE", help="Secret with the keys ca, crt and key, for TLS.")
@click.option("--project", default="core", show_default=True, metavar="NAME", help="Project of the Shoot.")
@click.option("--shoot", default="example", show_default=True, metavar="NAME", help="Name of the Shoot.")
@click.option("--uid", default="uid", show_default=True, metavar="UID", help="UID of the Shoot.")
@click.option("--runnable", is_flag=True, help="Let scripts work on DIR as if it was the root of a node.")
def rsyslog_relp(
    path: str, folder: str, *, secret_path: str | None, project: str, shoot: str, uid: str, runnable: bool
) -> None:
    """Write the files of a node: rsyslog's configuration, scripts, unit, audit rules, and with --secret certificates.

    They are what the webhook for OperatingSystemConfigs adds, byte for byte, at their places below DIR. With --runnable
    the paths in them begin with DIR, so that the scripts can be tried out without touching the machine.
    """
    config = _config(_text(path))
    certificates = _certificates(_text(secret_path), config) if secret_path is not None else {}
    out = _empty_folder(folder)
    paths = HostPaths.below(str(out)) if runnable else DEFAULT_PATHS
    if config.active_tls is not None and secret_path is None:
        note("note: without --secret the certificates of TLS are not among the files")
    for file in _files(config, ShootIdentity(project, shoot, uid), certificates, paths):
        place = Path(file.path) if runnable else out / file.path.lstrip("/")
        _write(place, file)
        click.echo(Path(folder) / place.relative_to(out))


def _text(path: str) -> SourceText:
    text, *others = source_texts([path], standard_input())
    if others or not isinstance(text, SourceText):
        raise CommandError(f"{path}: must be one file" if others else str(text))
    return text


def _config(source: SourceText) -> RsyslogRelpConfig:
    """The valid configuration that a text states."""
    decoded = decode_text(source.text, is_strict=True)
    if isinstance(decoded, Failure):
        raise CommandError.of(f"{source.path}: {problem}" for problem in decoded.failure())
    config = decoded.unwrap()
    if problems := config_problems(config):
        raise CommandError.of(f"{source.path}: {problem}" for problem in problems)
    for warning in config_warnings(config):
        note(f"warning: {source.path}: {warning}")
    return config


def _certificates(source: SourceText, config: RsyslogRelpConfig) -> Mapping[str, bytes]:
    """The values of a Secret with certificates, by key."""
    if config.active_tls is None:
        raise CommandError(f"{source.path}: the configuration does not enable TLS, so that no Secret is used")
    document = single_document(source.text, source.path)
    if isinstance(document, Failure):
        raise CommandError.of(f"{source.path}: {problem}" for problem in document.failure())
    secret: Any = document.unwrap()
    if not (isinstance(secret, Mapping) and secret.get("kind") == SECRETS.kind):
        raise CommandError(f"{source.path}: must be a Secret")
    data = {name: _decoded(source, name, text) for name, text in _texts(secret, "data")}
    data |= {name: text.encode() for name, text in _texts(secret, "stringData")}
    encoded = {name: b64encode(content).decode() for name, content in data.items()}
    if problem := secret_problem(key_of(secret), encoded, public_key):
        raise CommandError(f"{source.path}: {problem}")
    return data


def _texts(secret: Manifest, field: str) -> Iterator[tuple[str, str]]:
    values: Any = secret.get(field)
    yield from ((name, str(text)) for name, text in (values.items() if isinstance(values, Mapping) else ()))


def _decoded(source: SourceText, name: str, text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError as error:
        raise CommandError(f"{source.path}: data[{name}]: must be encoded in base64") from error


def _files(
    config: RsyslogRelpConfig, shoot: ShootIdentity, certificates: Mapping[str, bytes], paths: HostPaths
) -> Iterator[NodeFile]:
    for entry in node_files(config, shoot, "certificates" if certificates else None, paths):
        reference = entry["content"].get("secretRef")
        content = certificates[reference["dataKey"]] if reference else b64decode(entry["content"]["inline"]["data"])
        yield NodeFile(entry["path"], entry["permissions"], content)
    yield NodeFile(paths.unit_file, UNIT_MODE, f"{configurator_unit(paths)}\n".encode())


def _empty_folder(folder: str) -> Path:
    out = Path(folder).absolute()
    try:
        out.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        is_empty = next(out.iterdir(), None) is None
    except OSError as error:
        raise CommandError(f"{folder}: {error.strerror}") from error
    if not is_empty:
        raise CommandError(f"{folder}: is not empty")
    return out


def _write(place: Path, file: NodeFile) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch(mode=file.mode)
        place.write_bytes(file.content)
        place.chmod(file.mode)
    except OSError as error:
        raise CommandError(f"{place}: {error.strerror}") from error
