"""The adversary: where to attack, which pairs to try, how to sharpen them, what to look at.

Found by the harness through entry points; nothing in the harness imports this room by name.
"""
