"""Does jobs with kazoo's lock recipes.

Every line of standard input is a job, "<id> <key=value>..."; jobs run at the same time, and the
process ends with its input.
"""
import logging
import os
import sys
import threading
import traceback

from job import Job
import tasks

_printing = threading.Lock()


def outcome(words):
    """Does a job; returns what came of it, and a word for how."""
    try:
        job = Job.parse(words)
        return "done", str(tasks.named(job.task)(job))
    except BaseException as error:  # whatever it is, somebody waits for an answer
        traceback.print_exc()
        reason = "%s: %s" % (type(error).__name__, error)
        return "failed", " ".join(reason.split())


def answer(number, words):
    """Does a job and prints its outcome, with the job's number after the first word."""
    verb, rest = outcome(words)
    with _printing:
        print(verb, number, rest, flush=True)


def main():
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    for line in sys.stdin:
        number, *words = line.split()
        threading.Thread(target=answer, args=(number, words), daemon=True).start()
    os._exit(0)  # also where a job hangs, whose outcome nobody waits for


if __name__ == "__main__":
    main()
