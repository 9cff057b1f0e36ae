"""kazoo's locks, as one thread uses them."""
from functools import partial

from kazoo.exceptions import LockTimeout
from kazoo.recipe.lock import Lock, ReadLock, Semaphore, WriteLock

from curator_names import CuratorMutex, CuratorReadLock, CuratorWriteLock

_LOCKS = {
    "": {"mutex": Lock, "read": ReadLock, "write": WriteLock},
    "curator": {"mutex": CuratorMutex, "read": CuratorReadLock, "write": CuratorWriteLock},
    "extra-patterns": {"mutex": partial(Lock, extra_lock_patterns=["-lock-"])},
}
_CLAIMS = {"mutex": "exclusive", "read": "shared", "write": "exclusive"}


class Recipe:
    """A lock or a semaphore, and what its holder says to the witness."""

    def __init__(self, lock, place, claim):
        self.lock = lock
        self.place = place
        self.claim = claim

    @property
    def node(self):
        """The name of the node by which it is held; none of a semaphore's, which has no order."""
        return getattr(self.lock, "node", None) or ""

    def acquire(self, seconds=0):
        """Acquires; gives up after so many seconds, and says so with False. 0 is forever."""
        try:
            return self.lock.acquire(timeout=seconds or None)
        except LockTimeout:
            return False

    def release(self):
        if not self.lock.release():
            raise AssertionError("release says that it was not held")


def named(name, job, client, identifier):
    """A recipe by its name. kazoo's locks are objects of one holder, so this is for one thread."""
    if name == "semaphore":
        if job.names:
            raise ValueError("Curator's semaphore has other nodes, not only other names")
        lock = Semaphore(client, job.path, identifier, max_leases=job.permits)
        return Recipe(lock, job.path, "one-of-%d" % job.permits)
    locks = _LOCKS[job.names]
    if name not in locks:
        raise ValueError("no recipe is named " + name)
    return Recipe(locks[name](client, job.path, identifier), job.path, _CLAIMS[name])


def cycle(job):
    """The names of what a thread of a contest uses, in turn."""
    return ["read", "read", "write"] if job.recipe == "readwrite" else [job.recipe]
