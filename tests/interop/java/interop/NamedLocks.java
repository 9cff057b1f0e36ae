package interop;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;

/** Curator's locks, unchanged but that they tell by which node the calling thread holds. */
final class NamedLocks {
    private NamedLocks() {}

    /** A lock that knows its node. */
    interface Named {
        /** The node's path, while the calling thread holds. */
        String node();
    }

    static InterProcessReadWriteLock readWrite(CuratorFramework client, String path) {
        return new ReadWrite(client, path);
    }

    /** InterProcessMutex. */
    static final class Mutex extends InterProcessMutex implements Named {
        Mutex(CuratorFramework client, String path) {
            super(client, path);
        }

        @Override
        public String node() {
            return getLockPath();
        }
    }

    /** InterProcessReadWriteLock, with the locks that its public constructor makes. */
    private static final class ReadWrite extends InterProcessReadWriteLock {
        ReadWrite(CuratorFramework client, String path) {
            this(client, path, new Write(client, path));
        }

        private ReadWrite(CuratorFramework client, String path, Write write) {
            super(write, new Read(client, path, write));
        }
    }

    private static final class Write extends InterProcessReadWriteLock.WriteLock implements Named {
        Write(CuratorFramework client, String path) {
            super(client, path, null);
        }

        @Override
        public String node() {
            return getLockPath();
        }
    }

    private static final class Read extends InterProcessReadWriteLock.ReadLock implements Named {
        Read(CuratorFramework client, String path, Write write) {
            super(client, path, null, write);
        }

        @Override
        public String node() {
            return getLockPath();
        }
    }
}
