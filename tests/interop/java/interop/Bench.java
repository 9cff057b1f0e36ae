package interop;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** Threads that acquire and release as often as they can, and count. */
final class Bench implements Task {
    private final List<Competitor> competitors = new ArrayList<>();
    private volatile boolean counting;

    @Override
    public Summary run(Job job) throws Exception {
        try (Sessions sessions = Sessions.open(job, job.sessions());
                Crew crew = new Crew(job.limitMillis())) {
            Guard shared = job.guard().isEmpty() ? new Guard() : new Guard(job.guard(), job.process());
            for (int s = 1; s <= job.sessions(); s++) {
                prepare(job, sessions.client(s), shared);
            }
            competitors.forEach(one -> crew.start(() -> one.compete(job, crew)));
            long elapsed = timed(job, crew, shared);
            crew.end();
            crew.join();
            settle(job, shared);
            return summary(elapsed);
        }
    }

    /** The threads of a session: one mutex for all, or a mutex and a guard for each. */
    private void prepare(Job job, CuratorFramework client, Guard shared) {
        InterProcessMutex mutex = new InterProcessMutex(client, job.path());
        for (int place = 0; place < job.threads(); place++) {
            int number = job.process() * job.threads() + competitors.size() + 1;
            competitors.add(
                    job.apart()
                            ? new Competitor(
                                    number,
                                    new InterProcessMutex(client, job.path() + "/" + place),
                                    new Guard())
                            : new Competitor(number, mutex, shared));
        }
    }

    /** Waits while what counts is counted; gives how long that was, in nanoseconds. */
    private long timed(Job job, Crew crew, Guard shared) throws Exception {
        if (!job.guard().isEmpty()) {
            while (!shared.stopped() && !crew.failed()) {
                crew.pause();
            }
            return 0;
        }
        Thread.sleep(job.warmMillis());
        while (!crew.failed() && competitors.stream().anyMatch(one -> one.all == 0)) {
            crew.pause();
        }
        long start = System.nanoTime();
        counting = true;
        Thread.sleep(job.spanMillis());
        boolean passedOn = !job.apart() && competitors.size() > 1;
        while (!crew.failed()
                && competitors.stream().allMatch(o -> (passedOn ? o.handed : o.counted) == 0)) {
            crew.pause(); // a slow machine
        }
        counting = false;
        return System.nanoTime() - start;
    }

    private void settle(Job job, Guard shared) {
        if (job.apart()) {
            competitors.forEach(one -> one.guard.settle(one.all));
        } else if (job.guard().isEmpty()) {
            shared.settle(competitors.stream().mapToLong(one -> one.all).sum());
        }
    }

    private Summary summary(long elapsed) {
        long[] ordered =
                competitors.stream()
                        .flatMapToLong(one -> Arrays.stream(one.latencies, 0, one.handed))
                        .sorted()
                        .toArray();
        int counted = competitors.stream().mapToInt(one -> one.counted).sum();
        int all = competitors.stream().mapToInt(one -> one.all).sum();
        return new Summary(
                counted,
                0,
                TimeUnit.NANOSECONDS.toMicros(elapsed),
                " all=" + all
                        + " handed=" + ordered.length
                        + " p50_ns=" + percentile(ordered, 50)
                        + " p99_ns=" + percentile(ordered, 99));
    }

    private static long percentile(long[] ordered, double percent) {
        if (ordered.length == 0) {
            return 0;
        }
        return ordered[(int) Math.max(Math.ceil(percent / 100 * ordered.length), 1) - 1];
    }

    /** One thread, and what it counts. */
    private final class Competitor {
        private final int number;
        private final InterProcessMutex mutex;
        private final Guard guard;
        private volatile int all;
        private volatile int counted;
        private volatile int handed;
        private long[] latencies = new long[64];

        Competitor(int number, InterProcessMutex mutex, Guard guard) {
            this.number = number;
            this.mutex = mutex;
            this.guard = guard;
        }

        Void compete(Job job, Crew crew) throws Exception {
            int grants = 0;
            while (!crew.over()) {
                mutex.acquire();
                long latency = guard.enter(number, System.nanoTime());
                if (grants == 0) {
                    guard.arrive();
                }
                grants++;
                all = grants;
                if (counting) {
                    count(latency);
                }
                if (job.holdMillis() > 0) {
                    Thread.sleep(job.holdMillis());
                }
                guard.leave(number);
                mutex.release();
            }
            return null;
        }

        private void count(long latency) {
            counted = counted + 1;
            if (latency < 0) {
                return;
            }
            if (handed == latencies.length) {
                latencies = Arrays.copyOf(latencies, 2 * handed);
            }
            latencies[handed] = latency;
            handed = handed + 1;
        }
    }
}
