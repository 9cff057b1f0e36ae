"""Locks a path with kazoo, as a user of DIGEST-MD5, and says so; lets go of it when a line comes in.

    locker.py SERVERS PATH, with USER and PASSWORD in the environment
"""
import os
import sys

from kazoo.client import KazooClient
from kazoo.security import CREATOR_ALL_ACL

servers, path = sys.argv[1:]
client = KazooClient(
    servers,
    timeout=30,
    default_acl=CREATOR_ALL_ACL,
    sasl_options={"mechanism": "DIGEST-MD5", "username": os.environ["USER"], "password": os.environ["PASSWORD"]},
)
client.start(timeout=60)
lock = client.Lock(path, extra_lock_patterns=["-lock-"])
print("connected", flush=True)
lock.acquire()
print("held", flush=True)
sys.stdin.readline()
lock.release()
print("released", flush=True)
client.stop()
client.close()
