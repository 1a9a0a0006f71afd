"""The documents of a YAML stream as JSON values, read the way Kubernetes reads them.

A document that cannot be parsed costs only itself: reading goes on at the next `---`. Works on text alone; knows
nothing of files and objects.
"""

import io
import re
from typing import Final

from hedgerow.machinery.documents.document import Document
from hedgerow.machinery.documents.yaml_reading import not_text, read_yaml

_SEPARATOR: Final = re.compile(r"^---(?=\s|$)", re.MULTILINE)


def yaml_documents(text: str) -> tuple[Document, ...]:
    """All documents of a stream in order, those that are broken or empty included."""
    if problem := not_text(text):
        return (Document(None, (problem,)),)
    if not text.endswith("\n"):  # a block of literal text would lack its last line end
        text += "\n"
    # The parser takes from it what it needs, so that a restart copies nothing.
    stream = io.StringIO(text)
    documents: list[Document] = []
    start, line = 0, 1
    while True:
        stream.seek(start)
        reading = read_yaml(text, start=start, first_line=line, source=stream)
        documents += reading.documents
        if reading.broken is None:
            return tuple(documents)
        document_start, place = reading.broken
        following = _SEPARATOR.search(text, max(text.rfind("\n", 0, place) + 1, document_start + 1))
        if following is None:
            return tuple(documents)
        line += text.count("\n", start, following.start())
        start = following.start()
