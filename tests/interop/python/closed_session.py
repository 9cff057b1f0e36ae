"""A session that is closed while it holds frees the lock for who waits."""
import check
import leftovers
import recipes
import sessions
from summary import NOTHING
from witness import Witness


def closed_session(job):
    with sessions.opened(job, 2) as (one, two), Witness(job, 1, 1) as first:
        holder = recipes.named(recipes.opponent(job.recipe), job, one, "holder")
        other = recipes.named(job.recipe, job, two, "other")
        holder.acquire()
        first.enter(holder)
        alone = leftovers.ephemerals(two, job.path)
        waiting = check.Elsewhere(lambda: _hold(job, other))
        check.eventually(
            job, lambda: leftovers.ephemerals(two, job.path) > alone, "somebody queues")
        check.that(not waiting.done(), "who waits is not inside yet")
        first.leave(holder)
        sessions.end(one)
        waiting.wait(job)
        check.that(leftovers.ephemerals(two, job.path) == 0, "nothing is left")
    return NOTHING


def _hold(job, recipe):
    with Witness(job, 2, 1) as witness:
        recipe.acquire()
        witness.enter(recipe)
        witness.leave(recipe)
        recipe.release()
