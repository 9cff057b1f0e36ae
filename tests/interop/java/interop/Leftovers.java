package interop;

import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/** What locks leave behind while their session lives, which would hide it by ending. */
final class Leftovers {
    private Leftovers() {}

    /** Fails when below the path there is an ephemeral node of the client's session. */
    static void refuse(CuratorFramework client, String path) throws Exception {
        long session = client.getZookeeperClient().getZooKeeper().getSessionId();
        for (String node : below(client, path)) {
            Stat stat = client.checkExists().forPath(node);
            if (stat != null && stat.getEphemeralOwner() == session) {
                throw new AssertionError("a lock that nobody holds has left " + node);
            }
        }
    }

    /** All nodes below a path, by their paths; none when it does not exist. */
    private static List<String> below(CuratorFramework client, String path) throws Exception {
        List<String> all = new ArrayList<>();
        try {
            for (String child : client.getChildren().forPath(path)) {
                String node = path + "/" + child;
                all.add(node);
                all.addAll(below(client, node));
            }
        } catch (KeeperException.NoNodeException gone) {
            // others release, too
        }
        return all;
    }
}
