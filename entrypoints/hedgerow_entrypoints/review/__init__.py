"""`hedgerow review`: what webhooks would decide about the objects in files, before any API server asks them.

`requests` makes requests out of files, completed as `completion` says; `panels` chooses who is asked, `facts` holds
what they look up, `course` leads one request through all of them and `session` every request, `showing` prints the
decisions, and `command` is the command line.
"""
