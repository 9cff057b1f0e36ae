package interop;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * A writer becomes a reader while another writer waits, which is let in only after the reader. Before
 * 5.5 Curator let it in beside the reader, whose node was then the last of the queue. Now it bears the
 * writer's own number.
 */
final class DowngradeBesideWaiterCheck implements Task {
    @Override
    public Summary run(Job job) throws Exception {
        ExecutorService waiting = Executors.newSingleThreadExecutor();
        try (Sessions sessions = Sessions.open(job, 3);
                Witness first = new Witness(job, 1, 1);
                Witness second = new Witness(job, 2, 1)) {
            Recipes recipes = new Recipes(job, sessions.client(1));
            Recipe write = recipes.named("write");
            Recipe read = recipes.named("read");
            Recipe other = new Recipes(job, sessions.client(2)).named("write");
            Recipe late = new Recipes(job, sessions.client(3)).named("read");
            write.acquire(0);
            first.enter(write);
            Future<Boolean> inside =
                    waiting.submit(
                            () -> {
                                boolean granted = other.acquire(job.limitMillis());
                                second.enter(other);
                                second.leave(other);
                                other.release();
                                return granted;
                            });
            while (Leftovers.ephemerals(sessions.client(3), job.path()) < 2) {
                Check.that(!inside.isDone(), "the other writer waits for the first");
                Thread.sleep(5);
            }
            Check.granted(read, job, "the writer, as a reader");
            first.change(read);
            write.release();
            Check.refused(late, "a reader behind the other writer");
            Check.that(!inside.isDone(), "the other writer waits for the reader");
            first.leave(read);
            read.release();
            Check.that(
                    inside.get(job.limitMillis(), TimeUnit.MILLISECONDS),
                    "the other writer is let in after the reader");
            Check.that(Leftovers.ephemerals(sessions.client(3), job.path()) == 0, "nothing is left");
        } finally {
            waiting.shutdownNow();
        }
        return Summary.NOTHING;
    }
}
