"""How known systems compact, as data, and what their providers' errors mean."""
