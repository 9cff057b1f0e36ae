package interop;

import java.util.List;

/** One of Curator's locks, as one thread uses it. */
interface Recipe {
    /** What the holder says to the witness of whom it suffers beside itself. */
    String claim();

    /** What is held, by name: the lock path, or several. */
    List<String> places();

    /** The node by which this thread holds; none where that is several, or in no order. */
    String node();

    /** Acquires; gives up after so many milliseconds, and says so with false. 0 is forever. */
    boolean acquire(int millis) throws Exception;

    void release() throws Exception;
}
