"""The documents of a JSON text, one after another with nothing or blanks between them, and where one is broken.

Works on text alone; knows nothing of files and objects.
"""

import json

from hedgerow.machinery.documents.document import Document
from hedgerow.machinery.documents.json_reading import JsonReader, after_blanks


def json_documents(text: str) -> tuple[Document, ...]:
    """All documents in order; nothing is read beyond one that is not JSON."""
    reader = JsonReader()
    documents: list[Document] = []
    position = after_blanks(text, 0)
    while position < len(text):
        try:
            document, end = reader.read(text, position)
        except json.JSONDecodeError as error:
            what = f"line {error.lineno}: is not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
            return (*documents, Document(None, (*reader.problems, what)))
        documents.append(document)
        position = after_blanks(text, end)
    return tuple(documents)
