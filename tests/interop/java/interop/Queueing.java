package interop;

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** Waiters that queue behind a holder, and then hold one after the other. */
final class Queueing implements Task {
    private final Guard guard = new Guard();

    @Override
    public Summary run(Job job) throws Exception {
        int holder = job.threads() + 1;
        try (Sessions sessions = Sessions.open(job, 1);
                Crew crew = new Crew(job.limitMillis())) {
            InterProcessMutex mutex = new InterProcessMutex(sessions.client(1), job.path());
            mutex.acquire();
            guard.enter(holder, System.nanoTime());
            long start = System.nanoTime();
            for (int n = 1; n <= job.threads(); n++) {
                int number = n;
                crew.start(() -> waitAndHold(mutex, number));
            }
            int asked = awaitChildren(job, sessions.client(1), crew);
            long queued = System.nanoTime();
            guard.leave(holder);
            mutex.release();
            crew.join();
            long drained = System.nanoTime();
            guard.settle(holder);
            return new Summary(
                    holder,
                    0,
                    TimeUnit.NANOSECONDS.toMicros(drained - start),
                    " all=" + holder
                            + " queued_ns=" + (queued - start)
                            + " drained_ns=" + (drained - queued)
                            + " asked=" + asked);
        }
    }

    private Void waitAndHold(InterProcessMutex mutex, int number) throws Exception {
        mutex.acquire();
        guard.enter(number, System.nanoTime());
        guard.leave(number);
        mutex.release();
        return null;
    }

    /** Waits until all have their nodes; gives how often it asked. */
    private static int awaitChildren(Job job, CuratorFramework client, Crew crew)
            throws Exception {
        int asked = 1;
        while (client.checkExists().forPath(job.path()).getNumChildren() <= job.threads()
                && !crew.failed()) {
            crew.pause();
            asked++;
        }
        return asked;
    }
}
