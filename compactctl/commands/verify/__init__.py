"""Proofs that everything taken out can be put back, and what can be repaired."""
