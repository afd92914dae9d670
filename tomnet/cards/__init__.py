"""Model cards, and how a finished run is adopted into the zoo."""
