"""How estimates of requests are measured, and their constants fitted."""
