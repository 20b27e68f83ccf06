"""What people and programs get to see: tables on screen, JSON, frames, figures, pages, and the files they go to."""
