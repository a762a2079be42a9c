"""How members come to differ: each function edits one part of a member's view."""
