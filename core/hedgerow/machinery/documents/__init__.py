"""YAML and JSON read the way Kubernetes reads them: texts in, JSON values or what is wrong with them out.

YAML is written here as well, so that it is read as the same values. Nothing here knows files, objects, or what a text
was meant for. Not imported by anything that decodes nothing: it is all of the core that loads a YAML parser.
"""
