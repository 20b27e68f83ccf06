"""What runs measured, as numbers: a metric by its path, statistics over replications, the timeline of the air."""
