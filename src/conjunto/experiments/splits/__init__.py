"""Tables into training and test rows: by chance, by groups, by time, by a file of their own."""
