"""What providers reported per request, and what follows: rounds, costs, calibration."""
