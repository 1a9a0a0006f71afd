"""Leader election by Lease, as users of client-go know it, on the monotonic clock.

Expected flow: candidates look at one Lease. Whoever finds it absent, released, run out or in its own name writes itself
into it and leads; it renews every retry period. The others look at least every retry period, jittered, and take over
when the Lease's `spec` has not changed for the holder's lease duration by their own clock: one that is given back is
taken within a retry period, that of a crashed holder within the lease duration and a retry period.

Guarantees:
* No decision compares a wall clock: expiry counts from when this process first saw the Lease's latest `spec`. A write
  to its metadata is no sign of life.
* A leader may write until the renew deadline after it *sent* its last successful renewal, not a moment longer, whatever
  its requests do. Each attempt is bounded by what is left of that.
* Every write names the resourceVersion it builds on, so of two claims one fails, and so does a write that arrives late.
* A lost lease stays lost: a process that led once and lost does not lead again.
* A normal stop closes the gate first and then empties the Lease, so that a successor need not wait.

Assumptions: a leader's clock that counts the renew deadline and a candidate's that counts the lease duration may differ
in rate by less than lease duration / renew deadline: with 15 s and 10 s one may run up to 1.5 times as fast as the
other. With all clocks within 10 % of true time 2.5 s remain between the end of one leader's gate and the next leader:
that, too, is the time a write has to arrive that passed the gate at its last moment. A clock that stands still while
the machine is suspended is not seen through; `CLOCK_BOOTTIME` does not stand still.

Caveats: who deletes the Lease or empties it by hand ends its holder's leadership, but a candidate that never saw the
Lease before leads at once, before the old leader has noticed.

`election` decides, `lease` reads and writes the object, `elector` sends and reports, `elector_thread` keeps all of it
out of the way of the process's work.
"""
