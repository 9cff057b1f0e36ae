"""Several client sessions, all connected, which end together."""
from contextlib import contextmanager

from kazoo.client import KazooClient


def end(client):
    """Closes a session. It may be called again."""
    client.stop()
    client.close()


@contextmanager
def opened(job, count):
    clients = [
        KazooClient(hosts=job.connect, timeout=job.session_timeout_ms / 1000)
        for _ in range(count)
    ]
    try:
        for client in clients:
            client.start(timeout=job.limit)
        yield clients
    finally:
        for client in clients:
            end(client)
