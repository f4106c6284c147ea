"""Several workers on one study: a storage that is waited for, who takes which trial, and who is still at work."""
