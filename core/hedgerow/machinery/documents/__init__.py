"""YAML and JSON as Kubernetes reads them: texts in, JSON values or problems out. YAML is written here, too.

Knows no files and no objects. Only what decodes or writes them imports it: nothing else loads a YAML parser.
"""
