"""kazoo's locks with the node names of Curator's.

With kazoo's own names, the two do not keep each other out. Curator looks at every child and sorts
by what follows "lock-", or by the whole name where that is missing: kazoo's "<hex>__lock__<number>"
comes after all of Curator's own as good as always, so Curator goes first whoever was there before
it. kazoo looks only at names that match its patterns; extra_lock_patterns can add "-lock-" to them,
which makes kazoo wait for Curator, but not Curator for kazoo. So it takes nodes that are named
"-lock-" in the first place, which is what these class attributes are for in kazoo's own read and
write locks.
"""
from kazoo.recipe.lock import Lock, ReadLock, WriteLock


class CuratorMutex(Lock):
    """Keeps out, and is kept out by, InterProcessMutex."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


class CuratorWriteLock(WriteLock):
    """Keeps out, and is kept out by, both locks of InterProcessReadWriteLock."""

    _NODE_NAME = "__WRIT__"
    _EXCLUDE_NAMES = ["__WRIT__", "__READ__"]


class CuratorReadLock(ReadLock):
    """Keeps out, and is kept out by, InterProcessReadWriteLock's write lock."""

    _NODE_NAME = "__READ__"
    _EXCLUDE_NAMES = ["__WRIT__"]
