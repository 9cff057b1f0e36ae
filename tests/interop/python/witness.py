"""A holder's line to the witness, who judges whether it may be inside."""
import socket


class Witness:
    """Every report waits for the answer. Without an address, nobody is told."""

    def __init__(self, job, session, thread):
        self._holder = job.holder(session, thread)
        self._socket = self._answers = None
        if job.witness:
            host, _, port = job.witness.rpartition(":")
            self._socket = socket.create_connection((host, int(port)))
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._answers = self._socket.makefile("r", encoding="utf-8")

    def enter(self, recipe):
        """Says that the holder is inside."""
        self._report("enter", recipe.place, recipe.claim, recipe.node)

    def leave(self, recipe):
        """Says that the holder is about to release."""
        self._report("leave", recipe.place)

    def _report(self, verb, *rest):
        if self._socket is None:
            return
        line = " ".join((verb, self._holder) + rest).rstrip()  # not every recipe knows its node
        self._socket.sendall((line + "\n").encode("utf-8"))
        answer = self._answers.readline().strip()
        if answer != "ok":
            raise AssertionError("the witness says to %r: %s" % (line, answer))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._socket is not None:
            self._answers.close()
            self._socket.close()
