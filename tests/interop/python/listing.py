"""contenders() lists holder and waiters in the order of the queue; lease_holders() the holders."""
import check
import leftovers
import recipes
import sessions
from summary import NOTHING


def listing(job):
    with sessions.opened(job, 3) as clients:
        names = ["first", "second", "third"]
        queue = [
            recipes.named(job.recipe, job, client, name) for client, name in zip(clients, names)
        ]
        if job.recipe == "semaphore":
            _lease_holders(job, queue[:2], names[:2])
        else:
            _contenders(job, clients, queue, names)
        check.that(leftovers.ephemerals(clients[0], job.path) == 0, "nothing is left")
    return NOTHING


def _lease_holders(job, holders, names):
    for holder in holders:
        check.that(holder.acquire(job.limit), "every holder is let in")
    listed = sorted(holders[0].lock.lease_holders())
    check.that(listed == names, "lease_holders says %s: %s" % (names, listed))
    for holder in holders:
        holder.release()
    listed = holders[0].lock.lease_holders()
    check.that(listed == [], "lease_holders says that there are none: %s" % listed)


def _contenders(job, clients, queue, names):
    queue[0].acquire()
    waiting = []
    for number, recipe in enumerate(queue[1:], 1):
        waiting.append(check.Elsewhere(recipe.acquire))
        check.eventually(
            job, lambda: leftovers.ephemerals(clients[0], job.path) > number, "one more queues")
    listed = queue[0].lock.contenders()
    check.that(listed == names, "contenders says %s: %s" % (names, listed))
    queue[0].release()
    for recipe, one in zip(queue[1:], waiting):
        one.wait(job)
        recipe.release()
