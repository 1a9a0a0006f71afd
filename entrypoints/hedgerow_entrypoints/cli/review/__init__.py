"""`hedgerow review`: what webhooks would decide about the objects in files, before any API server asks them.

`requests` makes requests out of files, completed as `completion` says. `panels` chooses the webhooks, `facts` holds
what they look up. `course` leads the requests through them; `showing` prints the decisions.
"""
