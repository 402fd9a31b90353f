"""Publishing a new state, so that no crash and no error can lose a line."""
