"""Every resource that the project defines, in the order in which `hedgerow crds` prints their definitions."""

from typing import Final

from hedgerow.api import core_v1beta1
from hedgerow.api.definition import CustomResource
from hedgerow.api.extensions_v1alpha1 import EXTENSION
from hedgerow.api.resources_v1alpha1 import MANAGED_RESOURCE

CUSTOM_RESOURCES: Final[tuple[CustomResource, ...]] = (MANAGED_RESOURCE, *core_v1beta1.CUSTOM_RESOURCES, EXTENSION)
