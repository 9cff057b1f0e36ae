"""cancel() ends an acquire that waits, which leaves no node; the holder keeps the lock."""
from kazoo.exceptions import CancelledError

import check
import leftovers
import recipes
import sessions
from summary import NOTHING


def cancelling(job):
    with sessions.opened(job, 2) as (one, two):
        holder = recipes.named(recipes.opponent(job.recipe), job, one, "holder")
        other = recipes.named(job.recipe, job, two, "other")
        holder.acquire()
        waiting = check.Elsewhere(other.acquire)
        check.eventually(
            job, lambda: leftovers.ephemerals(two, job.path) > 1, "somebody queues")
        _cancel(job, other, waiting)
        check.that(leftovers.ephemerals(two, job.path) == 1, "one node, the holder's")
        holder.release()
        again = recipes.named(job.recipe, job, two, "again")
        check.that(again.acquire(job.limit), "the next is let in")
        again.release()
        check.that(leftovers.ephemerals(two, job.path) == 0, "nothing is left")
    return NOTHING


def _cancel(job, recipe, waiting):
    # Its node is there before it waits, and a semaphore forgets what was asked of it before it
    # begins to: so it is asked until it ends.
    def ended():
        recipe.lock.cancel()
        return waiting.done()

    check.eventually(job, ended, "what is cancelled ends")
    try:
        waiting.wait(job)
    except CancelledError:
        return
    raise AssertionError("it was cancelled, and did not say so")
