"""acquire(blocking=False) on a lock that is held elsewhere: False at once, and no node is left."""
import check
import leftovers
import recipes
import sessions
from summary import NOTHING


def non_blocking(job):
    with sessions.opened(job, 2) as (one, two):
        holder = recipes.named(recipes.opponent(job.recipe), job, one, "holder")
        other = recipes.named(job.recipe, job, two, "other")
        holder.acquire()
        check.that(not other.lock.acquire(blocking=False), "whoever comes second is kept out")
        check.that(leftovers.ephemerals(two, job.path) == 1, "one node, the holder's")
        holder.release()
        check.that(other.lock.acquire(blocking=False), "whoever comes when it is free is let in")
        other.release()
        check.that(leftovers.ephemerals(two, job.path) == 0, "nothing is left")
    return NOTHING
