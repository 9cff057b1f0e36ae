package interop;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Watches over one lock: finds out when two hold it at once, and counts. Several processes may
 * share one in a file of 64-bit words, in the machine's order of bytes.
 */
final class Guard {
    private static final VarHandle LONGS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final int HOLDER = 0; // the number of who holds, from 1; 0 is nobody
    private static final int STOP = 8;
    private static final int GRANTS = 16;
    private static final int ARRIVED = 24;
    private static final int PROCESSES = 48; // the grants of each process, from here on
    private static final int WORD = 8;

    private final ByteBuffer words;
    private final int mine;
    private volatile long released;
    private volatile int by;

    /** One of this process's own. */
    Guard() {
        mine = PROCESSES;
        words = ByteBuffer.allocateDirect(mine + WORD);
    }

    /** One in a file that is there, which several processes share. */
    Guard(String file, int process) throws IOException {
        mine = PROCESSES + process * WORD;
        try (FileChannel channel =
                FileChannel.open(
                        Path.of(file), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            words = channel.map(FileChannel.MapMode.READ_WRITE, 0, mine + WORD);
        }
    }

    /**
     * Says that a thread was granted the lock; gives the nanoseconds since another one called
     * release, or -1 where there was none.
     */
    long enter(int me, long at) {
        if (!LONGS.compareAndSet(words, HOLDER, 0L, (long) me)) {
            throw new IllegalStateException(me + " was let in beside " + get(HOLDER));
        }
        return by != 0 && by != me ? at - released : -1;
    }

    /** Says that a thread is about to release. */
    void leave(int me) {
        long grants = get(GRANTS);
        Thread.yield(); // a second holder has the chance to be seen
        LONGS.setVolatile(words, GRANTS, grants + 1);
        LONGS.setVolatile(words, mine, get(mine) + 1);
        by = me;
        released = System.nanoTime();
        if (!LONGS.compareAndSet(words, HOLDER, (long) me, 0L)) {
            throw new IllegalStateException(get(HOLDER) + " came in beside " + me);
        }
    }

    /** A holder says that it holds for the first time. */
    void arrive() {
        LONGS.setVolatile(words, ARRIVED, get(ARRIVED) + 1);
    }

    boolean stopped() {
        return get(STOP) != 0;
    }

    /** Compares the count with the threads' own. */
    void settle(long grants) {
        if (get(GRANTS) != grants) {
            throw new IllegalStateException(
                    "of " + grants + " grants " + get(GRANTS) + " were counted under the lock");
        }
    }

    private long get(int word) {
        return (long) LONGS.getVolatile(words, word);
    }
}
