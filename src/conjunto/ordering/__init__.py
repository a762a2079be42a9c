"""Orders of members: functions of votes and y."""
