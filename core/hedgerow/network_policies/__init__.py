"""What all controllers of NetworkPolicies have in common: names, the shape of policies, how one is put right.

Decides neither which policies there are to be nor whose they are.
"""
