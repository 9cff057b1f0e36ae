"""What locks leave behind while their session lives, which would hide it by ending."""
from kazoo.exceptions import NoNodeError


def refuse(client, path):
    """Fails when a lock at this path has left an ephemeral node of the client's session."""
    session = client.client_id[0]
    for node in _all(client, path):
        stat = client.exists(node)
        if stat is not None and stat.ephemeralOwner == session:
            raise AssertionError("a lock that nobody holds has left " + node)


def _all(client, path):
    # The semaphore's lock stands beside it.
    return _below(client, path) + _below(client, path + "-__lock__")


def _below(client, path):
    """All nodes below a path, by their paths; none when it does not exist."""
    nodes = []
    try:
        for child in client.get_children(path):
            node = path + "/" + child
            nodes += [node] + _below(client, node)
    except NoNodeError:
        pass  # others release, too
    return nodes
