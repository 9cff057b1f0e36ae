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

/** Threads that end together: the first error ends all. */
final class Crew implements AutoCloseable {
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Future<Void>> running = new ArrayList<>();
    private final long until;
    private volatile boolean over;
    private volatile boolean failed;

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
                                failed = true;
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
        return failed;
    }

    /** Sleeps for a moment; throws when the time is up. */
    void pause() throws Exception {
        if (System.nanoTime() > until) {
            throw new TimeoutException("it is not done in time");
        }
        Thread.sleep(2);
    }

    /** Waits until all have ended, or one has failed. */
    void join() throws Exception {
        while (!failed && !running.stream().allMatch(Future::isDone)) {
            pause();
        }
        for (Future<Void> one : running) {
            if (one.isDone()) {
                get(one);
            }
        }
    }

    private static void get(Future<Void> one) throws Exception {
        try {
            one.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    @Override
    public void close() {
        over = true;
        threads.shutdownNow();
    }
}
