package interop;

import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;

/** Several client sessions, all connected, which end together. */
final class Sessions implements AutoCloseable {
    private static final int RETRIES = 10;
    private static final int BETWEEN_RETRIES_MILLIS = 200;

    private final List<CuratorFramework> clients = new ArrayList<>();

    private Sessions() {}

    static Sessions open(Job job, int count) throws Exception {
        Sessions sessions = new Sessions();
        try {
            for (int i = 0; i < count; i++) {
                CuratorFramework client =
                        CuratorFrameworkFactory.newClient(
                                job.connect(),
                                job.sessionTimeoutMillis(),
                                job.sessionTimeoutMillis(),
                                new RetryNTimes(RETRIES, BETWEEN_RETRIES_MILLIS));
                sessions.clients.add(client);
                client.start();
            }
            for (CuratorFramework client : sessions.clients) {
                client.blockUntilConnected();
            }
            return sessions;
        } catch (Exception e) {
            sessions.close();
            throw e;
        }
    }

    /** The client of a session, counted from 1. */
    CuratorFramework client(int session) {
        return clients.get(session - 1);
    }

    @Override
    public void close() {
        // ZooKeeper's client sleeps for 100 ms in each. Closing a closed one does nothing.
        clients.parallelStream().forEach(CuratorFramework::close);
    }
}
