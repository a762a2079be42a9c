"""The command `conjunto`: its group of commands, and what every error becomes.

Exit codes: 0 done, 1 a file could not be read or written, 2 the input cannot be used, 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from conjunto import __version__
from conjunto.cli.combine import combine
from conjunto.cli.compare import compare
from conjunto.cli.datasets import datasets
from conjunto.cli.evaluate import evaluate
from conjunto.cli.measures import measures
from conjunto.cli.methods import methods
from conjunto.cli.predict import predict
from conjunto.cli.prune import prune
from conjunto.cli.report import report
from conjunto.cli.reproduce import reproduce
from conjunto.cli.train import train

INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="conjunto")
def conjunto() -> None:
    """Ensembles of models: compare them honestly, train one, use it.

    \b
    conjunto compare data.csv --target y     every classical ensemble and its rivals, one page to look at
    conjunto combine conjunto-data           what all of them would be worth together
    conjunto train data.csv --target y       one model, saved
    conjunto predict model.skops new.csv     its predictions
    conjunto evaluate model.skops new.csv    how good they are, where the answers are known
    conjunto prune model.skops data.csv      the same with fewer members
    conjunto reproduce --list                published tables that can be run again

    Exit codes: 0 done, 1 a file could not be read or written, 2 the input cannot be used, 130 interrupted.
    """


for command in (compare, combine, train, predict, evaluate, prune, datasets, methods, measures, report, reproduce):
    conjunto.add_command(command)


def run(arguments: Sequence[str]) -> int:
    """Run the command line; return its exit code."""
    try:
        # click returns the code of a command that ends by `Exit`, and None of one that just ends.
        return conjunto.main(args=list(arguments), prog_name="conjunto", standalone_mode=False) or 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does; what else is in the buffer would raise again at exit.
        sys.stdout = None
        return 0
    except MemoryError:
        print("Error: there is not enough memory for this: fewer members, rows or columns may fit", file=sys.stderr)
        return 2
    except (OSError, ImportError) as error:
        return _say(error, 1)
    except (ValueError, LookupError) as error:
        if not _is_ours(error):
            raise
        return _say(error, 2)


def _is_ours(error: Exception) -> bool:
    """Whether an error is a message to the user; others are bugs and keep their traceback."""
    return type(error).__module__.startswith("conjunto.")


def _say(error: Exception, code: int) -> int:
    text = str(error)
    if isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename}: {error.strerror}"
    print(f"Error: {' '.join(text.split())}", file=sys.stderr)
    return code
