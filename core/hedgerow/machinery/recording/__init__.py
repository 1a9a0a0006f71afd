"""Records of decisions: their reads, steps and replies, and their end. That is enough to make them again.

The live decision is made once. Its journal (`journal`) holds references, and costs it next to nothing. The rest happens
in another thread:

1. Redaction (a port; `hedgerow.resource_manager.secret_redaction`) replaces confidential values by tokens.
2. If it replaced nothing, the journal is recorded as it is: its steps and its plan derive from what the record shows.
3. Otherwise the decision is made a second time, from the redacted journal (`playback`). The record holds only this
   shadow run. So nothing in it derives from a value that it does not show, even if a decision decodes, hashes or
   quotes such a value. The turns that apply ManagedResources and renew tokens always have a shadow run.

The state that one turn leaves to the next is not recorded: it may hold digests of secret values. A shadow run gets the
state of the last shadow run of its key, a replay that of the last turn that it has repeated. `codec` writes and reads
the lines of a record.
"""
