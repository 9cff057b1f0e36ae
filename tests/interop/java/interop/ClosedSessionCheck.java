package interop;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A session that is closed while it holds frees the lock for who waits. */
final class ClosedSessionCheck implements Task {
    @Override
    public Summary run(Job job) throws Exception {
        ExecutorService waiting = Executors.newSingleThreadExecutor();
        try (Sessions sessions = Sessions.open(job, 2);
                Witness first = new Witness(job, 1, 1)) {
            Recipe holder =
                    new Recipes(job, sessions.client(1)).named(Recipes.opponent(job.recipe()));
            Recipe other = new Recipes(job, sessions.client(2)).named(job.recipe());
            holder.acquire(0);
            first.enter(holder);
            int alone = Leftovers.ephemerals(sessions.client(2), job.path());
            Future<Void> done = waiting.submit(() -> hold(job, other));
            awaitQueued(job, sessions, alone);
            Check.that(!done.isDone(), "who waits is not inside yet");
            first.leave(holder);
            sessions.client(1).close();
            done.get(job.limitMillis(), TimeUnit.MILLISECONDS);
            Check.that(Leftovers.ephemerals(sessions.client(2), job.path()) == 0, "nothing is left");
        } finally {
            waiting.shutdownNow();
        }
        return Summary.NOTHING;
    }

    private static Void hold(Job job, Recipe recipe) throws Exception {
        try (Witness witness = new Witness(job, 2, 1)) {
            recipe.acquire(0);
            witness.enter(recipe);
            witness.leave(recipe);
            recipe.release();
        }
        return null;
    }

    /** Waits until more nodes are there than the holder's. */
    private static void awaitQueued(Job job, Sessions sessions, int alone) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(job.limitMillis());
        while (Leftovers.ephemerals(sessions.client(2), job.path()) <= alone) {
            if (System.nanoTime() > deadline) {
                throw new TimeoutException("nobody queues");
            }
            Thread.sleep(5);
        }
    }
}
