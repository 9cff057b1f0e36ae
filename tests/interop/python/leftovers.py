"""What locks leave behind while their session lives, which would hide it by ending."""
from kazoo.exceptions import NoNodeError


def refuse(client, path):
    """Fails when a lock at this path has left an ephemeral node of the client's session."""
    session = client.client_id[0]
    for node in _all(client, path):
        stat = client.exists(node)
        if stat is not None and stat.ephemeralOwner == session:
            raise AssertionError("a lock that nobody holds has left " + node)


def ephemerals(client, path):
    """How many ephemeral nodes there are of locks at this path, whosoever."""
    stats = [client.exists(node) for node in _all(client, path)]
    return sum(1 for stat in stats if stat is not None and stat.ephemeralOwner)


def _all(client, path):
    # The semaphore's lock stands beside it.
    return below(client, path) + below(client, path + "-__lock__")


def below(client, path):
    """All nodes below a path, by their paths, sorted; none when it does not exist."""
    nodes = []
    try:
        for child in sorted(client.get_children(path)):  # servers list them in any order
            node = path + "/" + child
            nodes += [node] + below(client, node)
    except NoNodeError:
        pass  # others release, too
    return nodes
