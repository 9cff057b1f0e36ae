package interop;

/** What was done. */
public record Summary(int acquired, int timedOut, long elapsedMicros, String timing) {
    /** Of a task that has nothing to count. */
    static final Summary NOTHING = new Summary(0, 0, 0);

    /** Without what benchmarks add, which begins with a space. */
    Summary(int acquired, int timedOut, long elapsedMicros) {
        this(acquired, timedOut, elapsedMicros, "");
    }

    @Override
    public String toString() {
        return "acquired=" + acquired + " timed_out=" + timedOut + " elapsed_us=" + elapsedMicros + timing;
    }
}
