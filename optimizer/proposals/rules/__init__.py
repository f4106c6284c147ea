"""Proposals by rule, which cost nothing: one file per kind of edit."""
