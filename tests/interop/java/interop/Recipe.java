package interop;

/** One of Curator's locks, as one thread uses it. */
interface Recipe {
    /** What the holder says to the witness of whom it suffers beside itself. */
    String claim();

    /** The lock path. */
    String place();

    /** The node by which this thread holds; none of a semaphore's, which has no order. */
    String node();

    /** Acquires; gives up after so many milliseconds, and says so with false. 0 is forever. */
    boolean acquire(int millis) throws Exception;

    void release() throws Exception;
}
