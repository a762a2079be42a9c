"""`python -m conjunto.cli` is the command `conjunto`."""

from conjunto.cli import main

main()
