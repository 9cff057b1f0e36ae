package zookeeper;

import java.io.File;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.management.ObjectName;
import net.bytebuddy.implementation.bind.annotation.FieldValue;
import standin.StandIn;

/** What methods of ClientBase and JMXEnv do in the place of running a server inside the test's process. */
public final class Servers {
    private static final Map<String, StandIn> RUNNING = new ConcurrentHashMap<>();

    private Servers() {}

    /** Takes the place of startServer(int): the tick is that of ClientBase, and its folder is the server's. */
    public static void start(@FieldValue("hostPort") String hostPort, @FieldValue("tmpDir") File folder) {
        Map<String, String> settings = new HashMap<>();
        settings.put("clientPort", hostPort.split("[:/]")[1]); // a chroot may follow
        settings.put("dataDir", folder.getPath());
        settings.put("tickTime", "3000");
        RUNNING.put(hostPort, StandIn.start(settings, folder.toPath()));
    }

    /** Takes the place of stopServer(). */
    public static void stop(@FieldValue("hostPort") String hostPort) {
        StandIn standIn = RUNNING.remove(hostPort);
        if (standIn != null) {
            standIn.close();
        }
    }

    /** Takes the place of JMXEnv.ensureAll: a stand-in's server publishes nothing. */
    public static Set<ObjectName> beans() {
        return Set.of();
    }
}
