package interop;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.Revoker;

/** Asks whoever holds a mutex to give it back. */
final class AskingTask implements Task {
    @Override
    public Summary run(Job job) throws Exception {
        try (Sessions sessions = Sessions.open(job, 1)) {
            CuratorFramework client = sessions.client(1);
            InterProcessMutex mutex = new InterProcessMutex(client, job.path());
            Revoker.attemptRevoke(client, mutex.getParticipantNodes().iterator().next());
        }
        return new Summary(0, 0, 0);
    }
}
