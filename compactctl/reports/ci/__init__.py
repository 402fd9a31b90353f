"""Results as CI systems read them."""
