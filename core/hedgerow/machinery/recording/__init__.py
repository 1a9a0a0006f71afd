"""Records of decisions: what a decision read, asked and was told, and how it ended.

That is enough to make it again: after an incident, to see why; before an upgrade, to see what another version decides.

The live decision is made once. A journal (`journal`) notes references to what it is told, and costs it next to
nothing. The rest happens beside the work, in this order:

1. Redaction (a port; `hedgerow.resource_manager.secret_redaction`) replaces what nobody may read by tokens.
2. If nothing had to be replaced, the journal is recorded as it is. Everything in its steps and its plan is derived from
   what the record shows anyway.
3. Otherwise the decision is made a second time, from the redacted journal: the shadow run (`shadow_run`). It alone is
   recorded. So nothing in a record is derived from a value that the record does not show, whatever a decision does with
   it: decodes it, hashes it, or quotes it in a message. The turns that apply ManagedResources and renew tokens read the
   values of Secrets and always have a shadow run; those that read a checksum or an annotation of one have it as well.

The state that one turn leaves to the next is not recorded: it may hold digests of secret values. Shadow runs get the
state of the last shadow run of their key, and a replay that of the last turn that it has repeated.

`replaying` makes recorded decisions again, by the same `playback` as shadow runs, and compares `plans`. `codec` turns
values into JSON and back; `lines` are the lines of a record.
"""
