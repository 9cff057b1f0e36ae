package interop;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.Revoker;

/** The holder hears that others want the lock, and gives it up. */
final class RevocationCheck implements Task {
    @Override
    public Summary run(Job job) throws Exception {
        try (Sessions sessions = Sessions.open(job, 2);
                Witness witness = new Witness(job, 1, 1)) {
            CuratorFramework asker = sessions.client(2);
            InterProcessMutex mutex = new InterProcessMutex(sessions.client(1), job.path());
            Recipe mine = new LockRecipe(mutex, "exclusive", List.of(job.path()));
            Recipe other = new Recipes(job, asker).named("mutex");
            CountDownLatch asked = new CountDownLatch(1);
            mutex.makeRevocable(revoked -> asked.countDown());
            mine.acquire(0);
            witness.enter(mine);

            for (String node : new InterProcessMutex(asker, job.path()).getParticipantNodes()) {
                Revoker.attemptRevoke(asker, node);
            }
            Check.that(
                    asked.await(job.limitMillis(), TimeUnit.MILLISECONDS), "the holder is asked");
            Check.refused(other, "the asker, while the holder has not released");
            witness.leave(mine);
            mine.release();
            Check.granted(other, job, "the asker, after that");
            other.release();
        }
        return Summary.NOTHING;
    }
}
