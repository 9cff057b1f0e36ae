"""The tasks by their names."""
from bench import bench
from cancelling import cancelling
from closed_session import closed_session
from contest import contest
from listing import listing
from non_blocking import non_blocking
from queueing import queueing
from sharing import sharing
from timeout import timeout

_TASKS = {
    "contest": contest,
    "timeout": timeout,
    "sharing": sharing,
    "closed-session": closed_session,
    "non-blocking": non_blocking,
    "cancelling": cancelling,
    "listing": listing,
    "bench": bench,
    "queueing": queueing,
}


def named(name):
    """A function that takes a job, and returns a summary or raises what is wrong."""
    if name not in _TASKS:
        raise ValueError("no task is named " + name)
    return _TASKS[name]
