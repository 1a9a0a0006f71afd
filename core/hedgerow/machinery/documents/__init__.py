"""YAML and JSON read the way Kubernetes reads them: texts in, JSON values or what is wrong with them out.

Nothing here knows files, objects, or what a text was meant for. Not imported by anything that decodes nothing: it is
the only part of the core that loads the YAML parser.
"""
