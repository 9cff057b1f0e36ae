"""Giving up on a lock that is held elsewhere: LockTimeout, and no node is left."""
import check
import leftovers
import recipes
import sessions
from summary import NOTHING
from witness import Witness


def timeout(job):
    with sessions.opened(job, 2) as (one, two), \
            Witness(job, 1, 1) as first, Witness(job, 2, 1) as second:
        holder = recipes.named(recipes.opponent(job.recipe), job, one, "holder")
        other = recipes.named(job.recipe, job, two, "other")
        holder.acquire()
        first.enter(holder)
        before = leftovers.below(two, job.path)
        check.that(not other.acquire(check.SHORT), "whoever comes second is kept out")
        check.that(leftovers.below(two, job.path) == before, "giving up leaves %s" % before)
        check.that(leftovers.ephemerals(two, job.path) == 1, "one node, the holder's")
        first.leave(holder)
        holder.release()

        check.that(other.acquire(job.limit), "whoever comes after the release is let in")
        second.enter(other)
        second.leave(other)
        other.release()
        check.that(leftovers.ephemerals(two, job.path) == 0, "nothing is left")
    return NOTHING
