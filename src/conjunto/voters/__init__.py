"""Fitted ensembles of any library as voters that can be asked one by one and taken apart: one file per family."""

from conjunto.voters.families import as_voters
from conjunto.voters.protocol import Seen, Unknown, Voters, rows_seen, votes_out_of_bag

__all__ = ["Seen", "Unknown", "Voters", "as_voters", "rows_seen", "votes_out_of_bag"]
