"""Component configurations: one class per section is its only description.

A section is a subclass of `Section`, which makes it a frozen dataclass; every field has a default. The annotation of a
field has its type, and marks for its name in documents, its rules and other spellings. The text below it is its
documentation. Decoding, errors, warnings, the printed configuration, `hedgerow config explain`, the page about the
configuration and the schema of the chart follow from this declaration. Controllers read the same class.

`section.py` is the declaration, `rules.py` holds rules in the words of Kubernetes, `reading.py` goes from a parsed
document to a valid configuration, `process.py` has the sections of every process.

pydantic is not used: it took a sixth of the processor time of a start and 10 MiB, and the reference fixes our messages.

Source: managed-resources §3.
"""
