"""One thing to do, as the Go side's Job describes it."""
from collections import namedtuple

_TEXTS = {
    "name": "worker", "task": "contest", "recipe": None, "connect": None, "path": None,
    "witness": "", "names": "", "guard": "",
}
_NUMBERS = {
    "sessions": 1, "threads": 1, "rounds": 1, "permits": 1, "hold_ms": 0, "patience_ms": 0,
    "session_timeout_ms": 30000, "limit_ms": 60000,
    "warm_ms": 0, "span_ms": 0, "apart": 0, "process": 0,
}


class Job(namedtuple("Job", list(_TEXTS) + list(_NUMBERS))):
    """The durations are in milliseconds here, and in seconds from the properties."""

    @classmethod
    def parse(cls, words):
        """Reads key=value words."""
        values = {**_TEXTS, **_NUMBERS}
        for word in words:
            key, separator, value = word.partition("=")
            if not separator:
                raise ValueError("not key=value: " + word)
            if key in _NUMBERS:
                values[key] = int(value)
            elif key in _TEXTS:
                values[key] = value
        missing = [key for key, value in _TEXTS.items() if value is None and not values[key]]
        if missing:
            raise ValueError("missing: " + ", ".join(missing))
        return cls(**values)

    def holder(self, session, thread):
        """The name by which the witness knows a thread; both count from 1."""
        return "%s/%d.%d" % (self.name, session, thread)

    @property
    def hold(self):
        return self.hold_ms / 1000

    @property
    def patience(self):
        return self.patience_ms / 1000

    @property
    def warm(self):
        return self.warm_ms / 1000

    @property
    def span(self):
        return self.span_ms / 1000

    @property
    def limit(self):
        return self.limit_ms / 1000
