"""Threads that acquire and release as often as they can, and count."""
import math
import time

import recipes
import sessions
from guard import Crew, Guard
from summary import Summary, Timed


class _Thread:
    """What one thread counts."""

    def __init__(self, number, recipe, guard):
        self.number, self.recipe, self.guard = number, recipe, guard
        self.counted = self.all = 0
        self.latencies = []


class _Bench:
    def __init__(self, job):
        self.job = job
        self.until = time.monotonic() + job.limit
        self.counting = False
        self.crew = Crew()
        self.threads = []

    def work(self, thread):
        while not self.crew.over.is_set():
            thread.recipe.acquire()
            counting = self.counting
            latency = thread.guard.enter(thread.number)
            if thread.all == 0:
                thread.guard.arrive()
            thread.all += 1
            if counting:
                thread.counted += 1
                if latency is not None:
                    thread.latencies.append(latency)
            if self.job.hold:
                time.sleep(self.job.hold)
            thread.guard.leave(thread.number)
            thread.recipe.release()

    def prepare(self, clients):
        """One guard for each lock."""
        job = self.job
        shared = Guard(job.guard, job.process)
        for client in clients:
            for place in range(job.threads):
                where = job._replace(path="%s/%d" % (job.path, place)) if job.apart else job
                number = job.process * job.threads + len(self.threads) + 1
                recipe = recipes.named(job.recipe, where, client, "%s/%d" % (job.name, number))
                self.threads.append(_Thread(number, recipe, Guard() if job.apart else shared))
        return shared

    def timed(self, guard):
        """Waits while what counts is counted; gives how long that was."""
        if self.job.guard:
            while not guard.stopped() and not self.crew.errors and time.monotonic() < self.until:
                time.sleep(0.002)
            return 0
        time.sleep(self.job.warm)
        while not all(thread.all for thread in self.threads) and not self.crew.errors:
            time.sleep(0.002)
            if time.monotonic() > self.until:
                raise AssertionError("not all have held")
        self.counting, start = True, time.monotonic()
        time.sleep(self.job.span)
        while not self.counted_some() and not self.crew.errors:  # a slow machine
            time.sleep(0.002)
            if time.monotonic() > self.until:
                raise AssertionError("nothing to count")
        self.counting = False
        return time.monotonic() - start

    def counted_some(self):
        if self.job.apart or len(self.threads) == 1:
            return any(thread.counted for thread in self.threads)
        return any(thread.latencies for thread in self.threads)

    def settle(self, guard):
        if self.job.apart:
            for thread in self.threads:
                thread.guard.settle(thread.all)
        elif not self.job.guard:
            guard.settle(sum(thread.all for thread in self.threads))


def _percentile(ordered, percent):
    return ordered[max(math.ceil(len(ordered) * percent / 100), 1) - 1] if ordered else 0


def bench(job):
    with sessions.opened(job, job.sessions) as clients:
        it = _Bench(job)
        guard = it.prepare(clients)
        for thread in it.threads:
            it.crew.start(it.work, thread)
        try:
            elapsed = it.timed(guard)
        finally:
            it.crew.over.set()
        it.crew.join(it.until)
        it.settle(guard)
    latencies = sorted(latency for thread in it.threads for latency in thread.latencies)
    return Timed(Summary(sum(thread.counted for thread in it.threads), 0, elapsed), {
        "all": sum(thread.all for thread in it.threads), "handed": len(latencies),
        "p50_ns": _percentile(latencies, 50), "p99_ns": _percentile(latencies, 99),
    })
