package interop;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Holds a mutex until somebody asks for it, and gives it back then. */
final class RevocableTask implements Task {
    @Override
    public Summary run(Job job) throws Exception {
        try (Sessions sessions = Sessions.open(job, 1);
                Witness witness = new Witness(job, 1, 1)) {
            NamedLocks.Mutex mutex = new NamedLocks.Mutex(sessions.client(1), job.path());
            Recipe mine = new LockRecipe(mutex, "exclusive", List.of(job.path()));
            CountDownLatch asked = new CountDownLatch(1);
            mutex.makeRevocable(revoked -> asked.countDown());
            mine.acquire(0);
            witness.enter(mine);
            Check.that(
                    asked.await(job.limitMillis(), TimeUnit.MILLISECONDS), "the holder is asked");
            witness.leave(mine);
            mine.release();
            Leftovers.refuse(sessions.client(1), job.path());
        }
        return new Summary(1, 0, 0);
    }
}
