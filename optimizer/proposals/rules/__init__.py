"""Proposals by rule, free of charge: one file for each kind of edit."""
