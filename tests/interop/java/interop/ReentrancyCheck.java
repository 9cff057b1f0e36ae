package interop;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A mutex is acquired again by the thread that holds it, and by no other, with one node. */
final class ReentrancyCheck implements Task {
    @Override
    public Summary run(Job job) throws Exception {
        ExecutorService neighbour = Executors.newSingleThreadExecutor();
        try (Sessions sessions = Sessions.open(job, 2)) {
            Recipe mine = new Recipes(job, sessions.client(1)).named("mutex");
            Recipe other = new Recipes(job, sessions.client(2)).named("mutex");
            mine.acquire(0);
            Check.granted(mine, job, "the thread that holds");
            Check.that(Leftovers.ephemerals(sessions.client(1), job.path()) == 1, "one node");
            Check.that(
                    !neighbour
                            .submit(() -> mine.acquire(Check.SHORT_MILLIS))
                            .get(job.limitMillis(), TimeUnit.MILLISECONDS),
                    "another thread of the session is kept out");
            mine.release();
            Check.refused(other, "another session, after one release of two");
            mine.release();
            Check.granted(other, job, "another session, after both");
            other.release();
            Check.that(refusesRelease(mine), "releasing once too often is refused");
            Check.that(Leftovers.ephemerals(sessions.client(1), job.path()) == 0, "nothing is left");
        } finally {
            neighbour.shutdownNow();
        }
        return Summary.NOTHING;
    }

    private static boolean refusesRelease(Recipe recipe) throws Exception {
        try {
            recipe.release();
            return false;
        } catch (IllegalMonitorStateException expected) {
            return true;
        }
    }
}
