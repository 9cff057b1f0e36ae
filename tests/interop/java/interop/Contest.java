package interop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** Many threads that acquire, hold and release. */
final class Contest implements Task {
    private final AtomicInteger acquired = new AtomicInteger();
    private final AtomicInteger timedOut = new AtomicInteger();

    @Override
    public Summary run(Job job) throws Exception {
        try (Sessions sessions = Sessions.open(job, job.sessions())) {
            long start = System.nanoTime();
            List<Callable<Void>> threads = new ArrayList<>();
            for (int s = 1; s <= job.sessions(); s++) {
                Recipes recipes = new Recipes(job, sessions.client(s));
                for (int t = 1; t <= job.threads(); t++) {
                    int session = s;
                    int thread = t;
                    threads.add(() -> compete(job, recipes, session, thread));
                }
            }
            together(threads, job.limitMillis());
            long elapsed = System.nanoTime() - start;
            for (int s = 1; s <= job.sessions(); s++) {
                Leftovers.refuse(sessions.client(s), job.path());
            }
            return new Summary(
                    acquired.get(), timedOut.get(), TimeUnit.NANOSECONDS.toMicros(elapsed));
        }
    }

    private Void compete(Job job, Recipes recipes, int session, int thread) throws Exception {
        List<Recipe> cycle = recipes.cycle();
        try (Witness witness = new Witness(job, session, thread)) {
            for (int round = 0; round < job.rounds(); round++) {
                // Threads are not all at the same place of the cycle.
                Recipe recipe = cycle.get((round + session + thread) % cycle.size());
                while (!recipe.acquire(job.patienceMillis())) {
                    timedOut.incrementAndGet();
                }
                acquired.incrementAndGet();
                witness.enter(recipe);
                if (job.holdMillis() > 0) {
                    Thread.sleep(job.holdMillis());
                }
                witness.leave(recipe);
                recipe.release();
            }
        }
        return null;
    }

    /** Runs all, until the first failure; then the others are interrupted. */
    private static void together(List<Callable<Void>> all, long limitMillis) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(all.size());
        CompletionService<Void> ended = new ExecutorCompletionService<>(threads);
        all.forEach(ended::submit);
        try {
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
            for (int i = 0; i < all.size(); i++) {
                long left = deadline - System.nanoTime();
                Future<Void> one = ended.poll(left, TimeUnit.NANOSECONDS);
                if (one == null) {
                    ThreadDump.print();
                    throw new TimeoutException(
                            (all.size() - i) + " threads are not done after " + limitMillis + " ms");
                }
                one.get();
            }
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        } finally {
            threads.shutdownNow();
        }
    }
}
