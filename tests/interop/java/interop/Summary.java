package interop;

/** What was done. */
public record Summary(int acquired, int timedOut, long elapsedMicros) {
    /** Of a task that has nothing to count. */
    static final Summary NOTHING = new Summary(0, 0, 0);

    @Override
    public String toString() {
        return "acquired=" + acquired + " timed_out=" + timedOut + " elapsed_us=" + elapsedMicros;
    }
}
