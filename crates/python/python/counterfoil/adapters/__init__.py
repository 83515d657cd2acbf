"""Frameworks: one module each, which imports its framework and nothing else.

What they share: tools go through a `Session` (admission, policy, receipt) or are recorded by it where
the framework runs them itself, and the final answer is held against the receipts.
"""
