"""What asks for many runs: experiments with their claims and verdicts, and comparisons of schemes."""
