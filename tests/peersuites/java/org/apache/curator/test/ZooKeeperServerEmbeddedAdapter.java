package org.apache.curator.test;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Paths;
import java.util.Properties;
import org.apache.zookeeper.server.ServerCnxnFactory;
import standin.StandIn;

/**
 * Takes the place of the class by which Curator's TestingServer and TestingCluster start a server inside the test's
 * process: this one starts a stand-in.
 */
public class ZooKeeperServerEmbeddedAdapter implements ZooKeeperMainFace {
    private volatile StandIn standIn;
    private volatile int port;

    @Override
    public void start(QuorumPeerConfigBuilder builder) {
        Properties settings;
        try {
            settings = builder.buildProperties();
            port = Integer.parseInt(settings.getProperty("clientPort"));
            if (port == 0) { // any: the caller asks for it then
                try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                    port = free.getLocalPort();
                }
                settings.setProperty("clientPort", Integer.toString(port));
            }
        } catch (Exception e) {
            throw new FailedServerStartException(e);
        }
        standIn = StandIn.start(settings, Paths.get(settings.getProperty("dataDir")));
    }

    @Override
    public int getClientPort() {
        return port;
    }

    /** A stand-in has no factory of connections in this process: what asks for it finds none. */
    public ServerCnxnFactory getServerCnxnFactory() {
        return null;
    }

    @Override
    public void kill() {
        close();
    }

    @Override
    public void close() {
        if (standIn != null) {
            standIn.close();
        }
    }
}
