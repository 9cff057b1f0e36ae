"""Waiters that queue behind a holder, and then hold one after the other."""
import time

import recipes
import sessions
from guard import Crew, Guard
from summary import Summary, Timed


def queueing(job):
    until = time.monotonic() + job.limit
    guard, crew = Guard(), Crew()
    with sessions.opened(job, 1) as (client,):
        def one(number):
            return recipes.named(job.recipe, job, client, "%s/%d" % (job.name, number))

        def work(number, recipe):
            recipe.acquire()
            guard.enter(number)
            guard.leave(number)
            recipe.release()

        holder = one(job.threads + 1)
        holder.acquire()
        guard.enter(job.threads + 1)
        start = time.monotonic_ns()
        for number in range(1, job.threads + 1):
            crew.start(work, number, one(number))
        asked = _await_children(client, job, crew, until)
        queued = time.monotonic_ns()
        guard.leave(job.threads + 1)
        holder.release()
        crew.join(until)
        drained = time.monotonic_ns()
        guard.settle(job.threads + 1)
    return Timed(Summary(job.threads + 1, 0, (drained - start) / 1e9), {
        "all": job.threads + 1, "queued_ns": queued - start, "drained_ns": drained - queued,
        "asked": asked,
    })


def _await_children(client, job, crew, until):
    """Waits until all have their nodes; gives how often it asked."""
    for asked in range(1, 1 << 30):
        if client.exists(job.path).children_count > job.threads or crew.errors:
            return asked
        if time.monotonic() > until:
            raise AssertionError("not all queue")
        time.sleep(0.002)
