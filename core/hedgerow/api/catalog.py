"""Every resource that the project defines."""

from typing import Final

from hedgerow.api.definition import CustomResource
from hedgerow.api.resources_v1alpha1 import MANAGED_RESOURCE

CUSTOM_RESOURCES: Final[tuple[CustomResource, ...]] = (MANAGED_RESOURCE,)
