"""Records of decisions: their reads, steps and replies, and their end. That is enough to make them again.

The live decision is made once. Its journal (`journal`) holds references, and costs it next to nothing. In another
thread, redaction (a port) replaces confidential values by tokens. If it replaced nothing, the journal is recorded as it
is. Otherwise the decision is made a second time, from the redacted journal (`playback`), and the record holds only this
shadow run: nothing in it derives from a value that it does not show, even if a decision decodes, hashes or quotes such
a value.

The state that one turn leaves to the next is not recorded: it may hold digests of secret values. A shadow run gets the
state of the last shadow run of its key, a replay that of the last turn that it has repeated. `codec` writes and reads
the lines of a record.
"""
