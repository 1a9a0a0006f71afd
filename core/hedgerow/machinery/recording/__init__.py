"""Decisions as records: what they were made from, what they came to, and the same again.

A decision is a function of what it is told, so whoever has kept that can make it again: after an incident, to see why;
before an upgrade, to see what another version would decide.

`codec` turns values into JSON and back, `reads` notes what is read of the world, `decisions` are what is written.
`rehearsing` makes decisions again while they are recorded, by what may be shown (`confidential`); `repeating` does so
later, and compares the `plans`.
"""
