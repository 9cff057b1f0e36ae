package interop;

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

/** One permit of a semaphore, for one thread. */
final class SemaphoreRecipe implements Recipe {
    private final InterProcessSemaphoreV2 semaphore;
    private final String path;
    private final int permits;
    private Lease lease;

    SemaphoreRecipe(InterProcessSemaphoreV2 semaphore, String path, int permits) {
        this.semaphore = semaphore;
        this.path = path;
        this.permits = permits;
    }

    @Override
    public String claim() {
        return "one-of-" + permits;
    }

    @Override
    public String place() {
        return path;
    }

    @Override
    public String node() {
        return "";
    }

    @Override
    public boolean acquire(int millis) throws Exception {
        lease = millis > 0 ? semaphore.acquire(millis, TimeUnit.MILLISECONDS) : semaphore.acquire();
        return lease != null;
    }

    @Override
    public void release() throws Exception {
        lease.close(); // unlike returnLease, it says what went wrong
        lease = null;
    }
}
