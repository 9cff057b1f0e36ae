package standin;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** A process that stands in for a server of ZooKeeper: it has an embedded server run for as long as it lives. */
public final class StandIn implements AutoCloseable {
    /** The properties of this process that an embedded server is to know. */
    private static final List<String> PASSED_ON = List.of(
            "java.security.auth.login.config",
            "jute.maxbuffer",
            "zookeeper.sasl.serverconfig",
            "zookeeper.sessionRequireClientSASLAuth",
            "znode.container.checkIntervalMs");

    private final Process process;

    private StandIn(Process process) {
        this.process = process;
    }

    /** Starts one with the settings of a zoo.cfg, and waits until its server is up, or waits for the rest of its ensemble. */
    public static StandIn start(Map<?, ?> settings, Path folder) {
        try {
            List<String> lines =
                    settings.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).collect(Collectors.toList());
            Path config = Files.createTempFile(Files.createDirectories(folder), "zoo", ".cfg");
            Files.write(config, lines);
            List<String> command = new ArrayList<>(List.of(System.getProperty("standin.program"), "stand-in"));
            for (String name : PASSED_ON) {
                if (System.getProperty(name) != null) {
                    command.add("-D" + name + "=" + System.getProperty(name));
                }
            }
            command.add(config.toString());
            Process process =
                    new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            StandIn standIn = new StandIn(process);
            if (new BufferedReader(new InputStreamReader(process.getInputStream())).readLine() == null) {
                standIn.close();
                throw new IOException("no server for " + lines);
            }
            return standIn;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends it, and with it the server. What the server had stays for one that is started with the same folder. */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
