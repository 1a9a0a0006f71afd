"""The objects of the project's own API groups, as types that check what they are told.

One module per group and version, and the public names of each are in it: `resources_v1alpha1.ManagedResource`. Nothing
is imported here, so that who needs one group does not pay for all. From each type its CustomResourceDefinition is made:
what a type says of a field is what an API server is told. `catalog` lists them.

    from hedgerow.api.resources_v1alpha1 import ManagedResource
    from hedgerow.api.shape import read

    read(ManagedResource, manifest)             # Success, or Failure with a sentence for every field that does not fit
    ManagedResource.model_validate(manifest)    # the same for who prefers pydantic's exception
    managed_resource.manifest()                 # the way back

Controllers take plain manifests; the types are for tools that read or make such objects, which is where untrusted
documents become values. Fields that a type does not declare survive: they are read, kept, and written again. A `null`
counts as absent, as to an API server.
"""
