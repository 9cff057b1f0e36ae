package interop;

/** What was done. */
public record Summary(int acquired, int timedOut, long elapsedMicros, String timing) {
    /** Without what benchmarks add, which begins with a space. */
    Summary(int acquired, int timedOut, long elapsedMicros) {
        this(acquired, timedOut, elapsedMicros, "");
    }

    @Override
    public String toString() {
        return "acquired=" + acquired + " timed_out=" + timedOut + " elapsed_us=" + elapsedMicros + timing;
    }
}
