"""What the checks say when something is not so."""
import threading
import time

# How many seconds one tries what must not succeed.
SHORT = 0.05


def that(condition, claim):
    if not condition:
        raise AssertionError("it is not so: " + claim)


def eventually(job, condition, claim):
    """Waits for what no event tells of."""
    deadline = time.monotonic() + job.limit
    while not condition():
        that(time.monotonic() < deadline, claim)
        time.sleep(0.005)


class Elsewhere:
    """Runs a function on a thread of its own, whose outcome can be waited for."""

    def __init__(self, function):
        self._function = function
        self._error = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            self._function()
        except BaseException as error:  # raised again where it is waited for
            self._error = error

    def done(self):
        return not self._thread.is_alive()

    def wait(self, job):
        """Raises what the function raised."""
        self._thread.join(job.limit)
        that(self.done(), "it ends")
        if self._error is not None:
            raise self._error
