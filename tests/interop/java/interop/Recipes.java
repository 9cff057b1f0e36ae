package interop;

import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;

/** Curator's locks on one path and one session: one object of each, which its threads share. */
final class Recipes {
    private final Job job;
    private final InterProcessMutex mutex;
    private final InterProcessReadWriteLock readWrite;
    private final InterProcessSemaphoreV2 semaphore;

    Recipes(Job job, CuratorFramework client) {
        this.job = job;
        mutex = new NamedLocks.Mutex(client, job.path());
        readWrite = NamedLocks.readWrite(client, job.path());
        semaphore = new InterProcessSemaphoreV2(client, job.path(), job.permits());
    }

    /** A recipe by its name, for one thread. */
    Recipe named(String name) {
        return switch (name) {
            case "mutex" -> new LockRecipe(mutex, "exclusive", job.path());
            case "read" -> new LockRecipe(readWrite.readLock(), "shared", job.path());
            case "write" -> new LockRecipe(readWrite.writeLock(), "exclusive", job.path());
            case "semaphore" -> new SemaphoreRecipe(semaphore, job.path(), job.permits());
            default -> throw new IllegalArgumentException("no recipe is named " + name);
        };
    }

    /** What a thread of a contest uses, in turn. */
    List<Recipe> cycle() {
        if (job.recipe().equals("readwrite")) {
            return List.of(named("read"), named("read"), named("write"));
        }
        return List.of(named(job.recipe()));
    }
}
