"""What was done."""
from collections import namedtuple


class Summary(namedtuple("Summary", "acquired timed_out elapsed")):
    def __str__(self):
        return "acquired=%d timed_out=%d elapsed_us=%d" % (
            self.acquired, self.timed_out, self.elapsed * 1000000)


class Timed(namedtuple("Timed", "summary timing")):
    """A summary with what benchmarks add: names and whole numbers."""

    def __str__(self):
        more = ["%s=%d" % pair for pair in self.timing.items()]
        return " ".join([str(self.summary)] + more)
