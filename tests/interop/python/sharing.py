"""Two sessions hold together what may be held together: as readers, or with two permits."""
import check
import leftovers
import recipes
import sessions
from summary import NOTHING
from witness import Witness


def sharing(job):
    with sessions.opened(job, 3) as (one, two, three), \
            Witness(job, 1, 1) as first, Witness(job, 2, 1) as second:
        holders = [
            (recipes.named(job.recipe, job, one, "one"), first),
            (recipes.named(job.recipe, job, two, "two"), second),
        ]
        third = recipes.named(recipes.opponent(job.recipe), job, three, "three")
        for holder, witness in holders:
            check.that(holder.acquire(job.limit), "both are let in")
            witness.enter(holder)
        check.that(not third.acquire(check.SHORT), "one more, or the writer, is kept out")
        for holder, witness in holders:
            witness.leave(holder)
            holder.release()
        check.that(third.acquire(job.limit), "the one who was kept out is let in")
        third.release()
        check.that(leftovers.ephemerals(three, job.path) == 0, "nothing is left")
    return NOTHING
