"""How a rendered chart gets into the seed: a Secret with its objects, and the ManagedResource that has them applied.

An annotation of the ManagedResource proves what its Secret was rendered from, so that nothing is rendered anew as long
as that stays, not even by another process.

Source: controller-registration §8.8, §8.9.
"""

from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Final

from returns.result import Success

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.references import secret_names
from hedgerow.api.registrations import INSTALLATION_NAME, RENDERING, SEED_NAMESPACE
from hedgerow.machinery.charts import RenderChart, RenderedFile
from hedgerow.machinery.documents.yaml_texts import sorted_yaml
from hedgerow.machinery.failures import Problem
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.questions import NotAnswered
from hedgerow.machinery.reading import UnreadableError, with_value
from hedgerow.machinery.steps import Pause
from hedgerow.resource_manager.builder import deploying
from hedgerow.resource_manager.builder.managed_resource import desired_managed_resource, new_managed_resource
from hedgerow.resource_manager.builder.secret import make_unique, new_secret
from hedgerow.version import __version__

_SEPARATOR: Final = "\n---\n"
_WRITTEN_AT_ONCE: Final = 64 * 1024  # characters, in some 50 ms


def extension_namespace(installation: str) -> str:
    """The name of the Namespace of an installation in its seed."""
    return f"extension-{installation}"


def managed_resource_key(installation: str) -> ObjectKey:
    """Of the ManagedResource of an installation."""
    return ObjectKey(SEED_NAMESPACE, installation)


async def secret_data(files: Iterable[RenderedFile], injected: Callable[[Manifest], Manifest]) -> dict[str, bytes]:
    """The objects of a chart as the data of a Secret, by the path of their template; pauses as long as it takes long.

    Args:
        files: as they are rendered.
        injected: an object as it is to be delivered; UnreadableError of it is raised with the path of the template.
    """
    texts: dict[str, str] = {}
    written = 0
    for file in files:
        objects = []
        for manifest in file.objects:
            try:
                objects.append(sorted_yaml(injected(manifest)))
            except UnreadableError as error:
                raise UnreadableError(Problem(file.path, str(error.problem))) from error
            written += len(objects[-1])
            if written > _WRITTEN_AT_ONCE:
                await Pause()
                written = 0
        if objects:
            name = file.path.replace("/", "_")
            # Two paths may be one name.
            texts[name] = texts.get(name, "") + _SEPARATOR + _SEPARATOR.join(objects) + _SEPARATOR
    return {name: text.encode() for name, text in texts.items()}


async def deliver(installation: str, rendering: RenderChart, data: Mapping[str, bytes]) -> str | None:
    """Write what a rendering gave into the seed; why that failed."""
    secret = new_secret(SEED_NAMESPACE, installation, data, with_prefix=False)
    return await deploying.deploy(secret, _new_delivery(installation, key_of(secret).name, rendering), "installed")


async def is_delivered(installation: str, rendering: RenderChart) -> bool:
    """True if it is proven that a rendering would change nothing in the seed."""
    existing = await deploying.look(MANAGED_RESOURCES, managed_resource_key(installation))
    if existing is None or isinstance(existing, NotAnswered):
        return False
    try:
        name = next(iter(secret_names(existing)), "")
        if desired_managed_resource(existing, _new_delivery(installation, name, rendering)) != Success(existing):
            return False
    except UnreadableError:
        return False
    secret = await deploying.look(SECRETS, ObjectKey(SEED_NAMESPACE, name))
    if secret is None or isinstance(secret, NotAnswered):
        return False
    # Nobody can change what it holds, but somebody may have made another one of its name.
    return make_unique(with_value(secret, ("metadata", "name"), installation)) == Success(secret)


def _new_delivery(installation: str, secret: str, rendering: RenderChart) -> Manifest:
    """The ManagedResource of an installation, whose objects a Secret has."""
    managed_resource = new_managed_resource(
        SEED_NAMESPACE,
        installation,
        secret_names=[secret],
        labels={INSTALLATION_NAME: installation},
        **{"class": "seed"},
    )
    proof = blake2b(f"{__version__} {rendering.digest} {secret}".encode(), digest_size=16).hexdigest()
    return with_value(managed_resource, ("metadata", "annotations"), {RENDERING: proof})
