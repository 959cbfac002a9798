"""Mechanisms that others wrote: another interpreter, another program, another library's objects.

What runs in another interpreter (``worker``, and the adapters of libraries) needs nothing but the
standard library and Python 3.8.
"""
