"""Component configurations: one class per section is its only description.

A section is a subclass of `Section`, which makes it a frozen dataclass; every field has a default. The annotation of a
field has its type, and marks for its name in documents, its rules, its other spellings, and whether a misspelling is an
error. The text below a field is its documentation. Decoding, defaults, errors, warnings, the printed configuration,
`hedgerow config explain`, the page about the configuration and the schema of the chart all follow from this
declaration. Controllers read the same class.

`section.py` is the declaration, `rules.py` holds rules in the words of Kubernetes, `reading.py` goes from a parsed
document to a valid configuration, `process.py` has the sections of every process. A component declares a `Document`,
and calls `decode` with it.

pydantic is not used: to import it and to build its models took a sixth of the processor time of a start and 10 MiB, and
all its messages had to be replaced, as the reference fixes ours.

Source: managed-resources §3.
"""
