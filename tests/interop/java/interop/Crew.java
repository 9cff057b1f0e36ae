package interop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

/** Threads that end together: the first error ends all. */
final class Crew implements AutoCloseable {
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Future<Void>> running = new ArrayList<>();
    private final long until;
    private final AtomicReference<Throwable> failure = new AtomicReference<>(); // the first
    private volatile boolean over;

    Crew(int limitMillis) {
        until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
    }

    void start(Callable<Void> work) {
        running.add(
                threads.submit(
                        () -> {
                            try {
                                return work.call();
                            } catch (Exception | Error e) {
                                failure.compareAndSet(null, e);
                                over = true;
                                throw e;
                            }
                        }));
    }

    /** Whether the threads are to stop. */
    boolean over() {
        return over;
    }

    void end() {
        over = true;
    }

    /** Whether there is no use in waiting for more than the error. */
    boolean failed() {
        return failure.get() != null;
    }

    /** Sleeps for a moment; throws when the time is up. */
    void pause() throws Exception {
        if (System.nanoTime() > until) {
            throw new TimeoutException("it is not done in time");
        }
        Thread.sleep(2);
    }

    /** Waits until all have ended, or one has failed, and throws what it failed with. */
    void join() throws Exception {
        while (!failed() && !running.stream().allMatch(Future::isDone)) {
            pause();
        }
        Throwable first = failure.get(); // which is there before its Future is done
        if (first != null) {
            throw first instanceof Exception cause ? cause : new ExecutionException(first);
        }
    }

    @Override
    public void close() {
        over = true;
        threads.shutdownNow();
    }
}
