"""The catalogue: every resource, label, annotation and transform, and what one object says by itself.

One module for each topic: `kubernetes` and `gardener` name resources, `network_policies`, `tokens` and
`reference_annotations` say what annotations mean; `managed_resources`, `references`, `managed_objects` and
`managed_resource_status` are about ManagedResources. Nothing is imported here, so that nobody pays for all of it.

The objects of the project's own API groups are types that check what they are told, one module per group and version.
The CustomResourceDefinitions are generated from the types.

    from hedgerow.api.resources_v1alpha1 import ManagedResource
    from hedgerow.api.shape import read

    read(ManagedResource, manifest)             # Success, or Failure with a sentence for every field that does not fit
    ManagedResource.model_validate(manifest)    # the same, with pydantic's exception
    managed_resource.manifest()                 # the way back

Controllers take plain manifests; the types are for tools that read or make such objects, which is where untrusted
documents become values. Fields that a type does not declare survive: they are read, kept, and written again. A `null`
counts as absent, as to an API server.
"""
