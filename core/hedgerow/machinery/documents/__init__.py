"""YAML and JSON as Kubernetes reads them: texts in, JSON values or problems out. YAML is written here, too.

Knows no files and no objects. Only what decodes imports it: nothing else of the core loads a YAML parser.
"""
