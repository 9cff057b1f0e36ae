package interop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryNTimes;

/**
 * A client of the soak (tests/soak), with Curator's InterProcessMutex. It takes the flags of the
 * soak's own clients, and tells the controller the same things in the same way.
 *
 * <p>A holder believes that it holds until it calls release, or the connection is suspended or
 * lost, as Curator's documentation asks of careful programs.
 */
public final class SoakClient {
    private static final int RETRIES = 10;
    private static final int BETWEEN_RETRIES_MILLIS = 200;

    private final SoakOptions options;
    private final SoakLine control;
    private final SoakGate gate = new SoakGate();
    private final CountDownLatch stop = new CountDownLatch(1);
    private final AtomicInteger breaks = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();
    private volatile boolean connected;

    private SoakClient(SoakOptions options) throws Exception {
        this.options = options;
        control = new SoakLine(options, -1);
    }

    public static void main(String[] args) throws Exception {
        new SoakClient(SoakOptions.parse(args)).run();
        System.exit(0);
    }

    private void run() throws Exception {
        control.report("process").number("n", ProcessHandle.current().pid()).send();
        Thread commands = new Thread(this::obey, "commands");
        commands.setDaemon(true);
        commands.start();
        CuratorFramework client =
                CuratorFrameworkFactory.newClient(
                        options.text("servers"),
                        (int) options.millis("session"),
                        (int) options.millis("session"),
                        new RetryNTimes(RETRIES, BETWEEN_RETRIES_MILLIS));
        client.getConnectionStateListenable().addListener((from, state) -> changed(state));
        client.start();
        client.blockUntilConnected();
        List<Thread> workers = new ArrayList<>();
        for (int n = 0; n < options.workers(); n++) {
            SoakWorker worker = new SoakWorker(options, n, client, gate, this);
            workers.add(new Thread(worker, "worker " + n));
        }
        workers.forEach(Thread::start);
        Thread counting = new Thread(this::count, "count");
        counting.setDaemon(true);
        counting.start();
        stop.await();
        gate.stop();
        for (Thread worker : workers) {
            worker.join();
        }
        client.close();
    }

    private void changed(ConnectionState state) {
        connected = state.isConnected();
        if (!connected) {
            breaks.incrementAndGet();
        }
        if (state == ConnectionState.LOST) {
            lost.incrementAndGet();
        }
    }

    /** What a holder remembers, to know later whether the connection has been there all the time. */
    int connection() {
        return breaks.get();
    }

    boolean unbroken(int since) {
        return connected && breaks.get() == since;
    }

    /** Carries out commands. When the controller is gone the process ends at once. */
    private void obey() {
        try {
            for (String line = control.receive(); line != null; line = control.receive()) {
                if (line.contains("\"quiet\"")) {
                    Thread hushing = new Thread(this::hush, "hush");
                    hushing.setDaemon(true);
                    hushing.start();
                } else if (line.contains("\"go\"")) {
                    gate.open();
                } else if (line.contains("\"burst\"")) {
                    gate.ring();
                } else if (line.contains("\"log\"")) {
                    control.report("log").text("d", "no log is kept").send();
                } else if (line.contains("\"stop\"")) {
                    stop.countDown();
                }
            }
        } catch (Exception e) {
            e.printStackTrace();
        }
        System.exit(1);
    }

    private void hush() {
        try {
            gate.hush();
            control.report("idle").send();
        } catch (Exception e) {
            e.printStackTrace();
        }
    }

    /** Reports lost sessions, once a second. */
    private void count() {
        try {
            for (int reported = 0; ; Thread.sleep(1000)) {
                int now = lost.get();
                if (now > reported) {
                    control.report("sessions").number("n", now - reported).send();
                    reported = now;
                }
            }
        } catch (Exception e) {
            e.printStackTrace();
        }
    }
}
