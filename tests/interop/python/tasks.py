"""The tasks by their names."""
from bench import bench
from contest import contest
from queueing import queueing

_TASKS = {
    "contest": contest,
    "bench": bench,
    "queueing": queueing,
}


def named(name):
    """A function that takes a job, and returns a summary or raises what is wrong."""
    if name not in _TASKS:
        raise ValueError("no task is named " + name)
    return _TASKS[name]
