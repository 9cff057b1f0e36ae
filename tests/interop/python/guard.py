"""Watches over one lock: finds out when two hold it at once, and counts.

Several processes may share one in a file: 64-bit words, in the machine's order of bytes. The Go and
the Java side change the first by compare-and-swap; Python has none, so that this side looks before
and after, which is enough to see a second holder that stays for a moment.
"""
import mmap
import threading
import time

_HOLDER, _STOP, _GRANTS, _ARRIVED = range(4)  # the number of who holds, from 1; 0 is nobody
_PROCESSES = 6  # the grants of each process, from here on


class Guard:
    """Without a file it is this process's own."""

    def __init__(self, file="", process=0):
        self._memory = None
        self._mine = _PROCESSES + process
        self._words = [0] * (self._mine + 1)
        if file:
            with open(file, "r+b") as opened:
                self._memory = mmap.mmap(opened.fileno(), 0)
            self._words = memoryview(self._memory).cast("q")
        self._released = 0
        self._by = 0

    def enter(self, me):
        """Says that a thread holds; gives the ns since another one called release, or None."""
        at = time.monotonic_ns()
        if self._words[_HOLDER] != 0:
            raise AssertionError("%d was let in beside %d" % (me, self._words[_HOLDER]))
        self._words[_HOLDER] = me
        return at - self._released if self._by not in (0, me) else None

    def leave(self, me):
        """Says that a thread is about to release."""
        grants = self._words[_GRANTS]
        time.sleep(0)  # a second holder has the chance to be seen
        if self._words[_HOLDER] != me or self._words[_GRANTS] != grants:
            raise AssertionError("%d came in beside %d" % (self._words[_HOLDER], me))
        self._words[_GRANTS] = grants + 1
        self._words[self._mine] += 1
        self._by = me
        self._words[_HOLDER] = 0
        self._released = time.monotonic_ns()

    def arrive(self):
        """A holder says that it holds for the first time."""
        self._words[_ARRIVED] += 1

    def stopped(self):
        return self._words[_STOP] != 0

    def settle(self, grants):
        """Compares the count with the threads' own."""
        if self._words[_GRANTS] != grants:
            raise AssertionError(
                "of %d grants %d were counted under the lock" % (grants, self._words[_GRANTS]))


class Crew:
    """Threads that end together: the first error ends all."""

    def __init__(self):
        self.over = threading.Event()
        self.errors = []
        self._threads = []

    def start(self, work, *arguments):
        def run():
            try:
                work(*arguments)
            except BaseException as error:  # whatever it is, somebody waits for it
                self.errors.append(error)
                self.over.set()

        thread = threading.Thread(target=run, daemon=True)
        self._threads.append(thread)
        thread.start()

    def join(self, until):
        """Waits until all have ended, at the latest at a moment of the monotonic clock."""
        for thread in self._threads:
            while thread.is_alive() and not self.errors:
                thread.join(0.5)
                if time.monotonic() > until:
                    raise AssertionError("not all are done")
        if self.errors:
            raise self.errors[0]
