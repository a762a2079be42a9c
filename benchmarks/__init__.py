"""Speed, accuracy and memory of conjunto against its peers, measured side by side in one run."""
