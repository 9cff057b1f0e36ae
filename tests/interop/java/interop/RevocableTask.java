package interop;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Holds a mutex until somebody asks for it, and gives it back then. */
final class RevocableTask implements Task {
    @Override
    public Summary run(Job job) throws Exception {
        try (Sessions sessions = Sessions.open(job, 1);
                Witness witness = new Witness(job, 1, 1)) {
            NamedLocks.Mutex mutex = new NamedLocks.Mutex(sessions.client(1), job.path());
            Recipe mine = new LockRecipe(mutex, "exclusive", job.path());
            CountDownLatch asked = new CountDownLatch(1);
            mutex.makeRevocable(revoked -> asked.countDown());
            mine.acquire(0);
            witness.enter(mine);
            if (!asked.await(job.limitMillis(), TimeUnit.MILLISECONDS)) {
                throw new TimeoutException("nobody asks the holder");
            }
            witness.leave(mine);
            mine.release();
            Leftovers.refuse(sessions.client(1), job.path());
        }
        return new Summary(1, 0, 0);
    }
}
