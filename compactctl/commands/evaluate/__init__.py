"""What compactions keep of what sessions went on to need."""
