package interop;

import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;

/** Curator's locks on one path and one session: one object of each, which its threads share. */
final class Recipes {
    private final Job job;
    private final InterProcessMutex mutex;
    private final InterProcessReadWriteLock readWrite;
    private final InterProcessSemaphoreV2 semaphore;
    private final InterProcessMultiLock multi;

    Recipes(Job job, CuratorFramework client) {
        this.job = job;
        mutex = new NamedLocks.Mutex(client, job.path());
        readWrite = NamedLocks.readWrite(client, job.path());
        semaphore = new InterProcessSemaphoreV2(client, job.path(), job.permits());
        // Its own isAcquiredInThisProcess and release are synchronized, and it is the same
        // two mutexes for all threads: sharing it is what it is made for.
        multi = new InterProcessMultiLock(client, parts(job));
    }

    /** The paths of the multi-lock's mutexes. */
    static List<String> parts(Job job) {
        return List.of(job.path() + "/a", job.path() + "/b");
    }

    /** A recipe by its name, for one thread. */
    Recipe named(String name) {
        List<String> path = List.of(job.path());
        return switch (name) {
            case "mutex" -> new LockRecipe(mutex, "exclusive", path);
            case "read" -> new LockRecipe(readWrite.readLock(), "shared", path);
            case "write" -> new LockRecipe(readWrite.writeLock(), "exclusive", path);
            case "semaphore" -> new SemaphoreRecipe(semaphore, job.path(), job.permits());
            case "multi" -> new LockRecipe(multi, "exclusive", parts(job));
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

    /** What keeps a recipe out when it is held elsewhere. */
    static String opponent(String recipe) {
        return switch (recipe) {
            case "read" -> "write";
            case "write" -> "read";
            default -> recipe;
        };
    }
}
