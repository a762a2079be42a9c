"""A helper process of `run`: reads the experiment from standard input, works on the store, and ends.

Standard input stays open as long as the parent lives; when it closes, the helper ends at once, even if the parent
was killed.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading


def main() -> None:
    """Work until nothing is left to claim."""
    order = pickle.load(sys.stdin.buffer)
    sys.path[:] = order["path"]
    threading.Thread(target=_end_with_parent, daemon=True).start()
    from conjunto.experiments.run import work
    from conjunto.experiments.sources import DATA_CHANGED, DataChangedError, Sources
    from conjunto.experiments.store import Store

    experiment, cells, contents, keep_answers = pickle.loads(order["work"])
    try:
        with Store(order["store"], experiment, contents=contents) as store:
            sources = Sources(experiment, contents=contents)
            work(experiment, sources, store, cells, name=order["name"], keep_answers=keep_answers)
    except DataChangedError as error:
        print(error, file=sys.stderr)
        sys.exit(DATA_CHANGED)


def _end_with_parent() -> None:
    # sys.stdin.buffer would hold its lock while Python shuts down.
    while os.read(0, 1024):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
