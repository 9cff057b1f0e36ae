package interop;

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessLock;

/** Whatever Curator calls a lock: everything but the semaphore. */
record LockRecipe(InterProcessLock lock, String claim, String place) implements Recipe {
    @Override
    public String node() {
        return ((NamedLocks.Named) lock).node();
    }

    @Override
    public boolean acquire(int millis) throws Exception {
        if (millis > 0) {
            return lock.acquire(millis, TimeUnit.MILLISECONDS);
        }
        lock.acquire();
        return true;
    }

    @Override
    public void release() throws Exception {
        lock.release();
    }
}
