"""`hedgerow review`: what webhooks would decide about the objects in files, before any API server asks them.

`requests` makes requests out of files, completed as `completion` says and checked by `recorded`; `surroundings` are the
Namespaces. `panels` chooses who is asked, `facts` holds what they look up, in `lookups`; `course` leads one request
through all of them and `session` every request, with `remarks` about those who would not be asked. `showing` prints the
decisions, and `command` is the command line.
"""
