"""What clients did to their own sessions, and sessions written for them: appended to, or anew."""
