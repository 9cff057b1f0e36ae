package interop;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * What Curator 5.4.0 gets wrong: a writer that queued before the holder took the read lock is let in
 * beside that reader, once the holder's write lock is released. For the reader's node is the last of
 * the queue. The witness is told nothing, since it would have to object.
 */
final class DowngradeBesideWaiterCheck implements Task {
    @Override
    public Summary run(Job job) throws Exception {
        ExecutorService waiting = Executors.newSingleThreadExecutor();
        try (Sessions sessions = Sessions.open(job, 2)) {
            Recipes recipes = new Recipes(job, sessions.client(1));
            Recipe write = recipes.named("write");
            Recipe read = recipes.named("read");
            Recipe other = new Recipes(job, sessions.client(2)).named("write");
            write.acquire(0);
            Future<Boolean> inside = waiting.submit(() -> other.acquire(job.limitMillis()));
            while (Leftovers.ephemerals(sessions.client(2), job.path()) < 2) {
                Check.that(!inside.isDone(), "the other writer waits for the first");
                Thread.sleep(5);
            }
            Check.granted(read, job, "the writer, as a reader");
            Check.that(!inside.isDone(), "the other writer waits still");
            write.release();
            Check.that(
                    inside.get(job.limitMillis(), TimeUnit.MILLISECONDS),
                    "the other writer is let in beside the reader");
            read.release();
            waiting.submit(
                            () -> {
                                other.release();
                                return null;
                            })
                    .get(job.limitMillis(), TimeUnit.MILLISECONDS);
            Check.that(Leftovers.ephemerals(sessions.client(2), job.path()) == 0, "nothing is left");
        } finally {
            waiting.shutdownNow();
        }
        return Summary.NOTHING;
    }
}
