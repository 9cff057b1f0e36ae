package interop;

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessLock;

/** A lock that cannot be had. */
final class FailingLock implements InterProcessLock {
    /** Why not. */
    static final class Failure extends Exception {
        private static final long serialVersionUID = 1L;
    }

    @Override
    public void acquire() throws Exception {
        throw new Failure();
    }

    @Override
    public boolean acquire(long time, TimeUnit unit) throws Exception {
        throw new Failure();
    }

    @Override
    public void release() {
        throw new IllegalMonitorStateException("it was never acquired");
    }

    @Override
    public boolean isAcquiredInThisProcess() {
        return false;
    }
}
