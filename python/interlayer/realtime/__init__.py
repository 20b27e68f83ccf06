"""Real TCP of this machine's kernel through the modelled air."""
