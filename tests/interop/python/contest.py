"""Many threads that acquire, hold and release."""
import faulthandler
import queue
import sys
import threading
import time

import leftovers
import recipes
import sessions
from summary import Summary
from witness import Witness


class _Contest:
    def __init__(self, job):
        self.job = job
        self.ended = queue.Queue()  # for each thread, its error or None
        self.failed = threading.Event()
        self.counting = threading.Lock()
        self.acquired = self.timed_out = 0

    def thread(self, client, session, thread):
        try:
            with Witness(self.job, session, thread) as witness:
                self.compete(client, session, thread, witness)
            self.ended.put(None)
        except BaseException as error:  # whatever it is, somebody waits for it
            self.failed.set()
            self.ended.put(error)

    def compete(self, client, session, thread, witness):
        job, cycle = self.job, recipes.cycle(self.job)
        for number in range(job.rounds):
            # Threads are not all at the same place of the cycle.
            name = cycle[(number + session + thread) % len(cycle)]
            recipe = recipes.named(name, job, client, job.holder(session, thread))
            while not recipe.acquire(job.patience):
                self.count(timed_out=1)
                if self.failed.is_set():
                    return
            self.count(acquired=1)
            witness.enter(recipe)
            time.sleep(job.hold)
            witness.leave(recipe)
            recipe.release()

    def count(self, acquired=0, timed_out=0):
        with self.counting:
            self.acquired += acquired
            self.timed_out += timed_out


def contest(job):
    it = _Contest(job)
    with sessions.opened(job, job.sessions) as clients:
        start = time.monotonic()
        for session, client in enumerate(clients, 1):
            for thread in range(1, job.threads + 1):
                # Daemons: a thread that waits forever must not keep the process.
                threading.Thread(
                    target=it.thread, args=(client, session, thread), daemon=True).start()
        for _ in range(job.sessions * job.threads):
            try:
                error = it.ended.get(timeout=max(0, start + job.limit - time.monotonic()))
            except queue.Empty:
                faulthandler.dump_traceback(sys.stderr)
                raise AssertionError("not all are done after %s ms" % job.limit_ms)
            if error is not None:
                raise error
        elapsed = time.monotonic() - start
        for client in clients:
            leftovers.refuse(client, job.path)
    return Summary(it.acquired, it.timed_out, elapsed)
