package interop;

import java.io.IOException;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.data.Stat;

/**
 * A worker of the soak: locks, writes to the resource while it holds, and unlocks, time and again.
 * Instants are System.nanoTime, which is the machine's monotonic clock on Linux, as in the soak's
 * own clients. The constants are those of tests/soak/worker.go and keep.go.
 */
final class SoakWorker implements Runnable {
    private static final int LONG_EVERY = 60;
    private static final int CALM_LONG_EVERY = 3;
    private static final int LATE_EVERY = 4;
    private static final long LATE_MOST = 10_000_000;
    private static final long SHORT_PAUSE = 100_000_000;
    private static final int LONG_PAUSE = 4;
    private static final int STRAY_EVERY = 5;
    private static final long SAMPLE_MILLIS = 2;
    private static final long AFTER_FAILURE_MILLIS = 10;

    private final SoakOptions options;
    private final int number;
    private final CuratorFramework client;
    private final SoakGate gate;
    private final SoakClient process;
    private final SoakLine line;
    private final Random random;

    // Of the hold.
    private int lock;
    private long token;
    private int connection;
    private long confirmed;

    SoakWorker(
            SoakOptions options, int number, CuratorFramework client, SoakGate gate, SoakClient p)
            throws IOException {
        this.options = options;
        this.number = number;
        this.client = client;
        this.gate = gate;
        process = p;
        line = new SoakLine(options, number);
        long place = options.number("client") * 1_000_003L + options.number("incarnation");
        random = new Random(Long.parseLong(options.text("seed")) * 31 + place * 257 + number);
    }

    @Override
    public void run() {
        try {
            line.report("worker").send();
            for (rest(); gate.enter(); rest()) {
                try {
                    round();
                } finally {
                    gate.leave();
                }
            }
            line.close();
        } catch (Exception e) {
            e.printStackTrace();
        }
    }

    private void rest() throws InterruptedException {
        if (options.calm()) {
            gate.pause(
                    random.nextBoolean()
                            ? upTo(SHORT_PAUSE)
                            : upTo(LONG_PAUSE * options.nanos("session")));
        }
    }

    private void choose() {
        int busy = options.number("locks");
        int calm = options.number("calm-locks");
        if (!options.calm()) {
            lock = random.nextInt(busy);
        } else if (random.nextInt(STRAY_EVERY) == 0) {
            lock = busy + random.nextInt(calm);
        } else {
            lock = busy + number % calm;
        }
    }

    private void round() throws Exception {
        choose();
        NamedLocks.Mutex mutex = new NamedLocks.Mutex(client, "/soak/lock-" + lock);
        long call = System.nanoTime();
        line.report("ask").number("l", lock).number("c", call).send();
        try {
            if (!mutex.acquire(options.millis("patience"), TimeUnit.MILLISECONDS)) {
                failed(call, "context deadline exceeded", "");
                return;
            }
            connection = process.connection();
            Stat stat = client.checkExists().forPath(mutex.node());
            if (stat == null) {
                failed(call, "the node is gone", mutex.node());
                release(mutex);
                return;
            }
            token = stat.getCzxid();
        } catch (Exception e) {
            failed(call, e.getClass().getSimpleName(), String.valueOf(e.getMessage()));
            if (mutex.isAcquiredInThisProcess()) {
                release(mutex);
            }
            Thread.sleep(AFTER_FAILURE_MILLIS);
            return;
        }
        hold(call, System.nanoTime());
        unlock(mutex);
    }

    private void failed(long call, String error, String detail) throws IOException {
        tell("failed").number("c", call).number("a", System.nanoTime()).text("o", "lock")
                .text("e", error).text("d", detail).send();
    }

    private SoakLine.Report tell(String kind) {
        return line.report(kind).number("l", lock);
    }

    private void hold(long call, long at) throws Exception {
        confirmed = 0;
        boolean valid = look();
        tell("grant").number("t", token).number("c", call).number("a", at).number("v", confirmed)
                .send();
        long until = at + length();
        for (long next = 0; valid && System.nanoTime() < until && !gate.hushed(); valid = look()) {
            if (System.nanoTime() >= next) {
                write();
                next = System.nanoTime() + upTo(options.holdMax() / 3 + 1_000_000);
            }
            Thread.sleep(SAMPLE_MILLIS);
        }
        SoakLine.Report end =
                tell("end").number("t", token).number("v", confirmed)
                        .number("a", System.nanoTime());
        if (!valid) {
            end.flag("lost");
        }
        end.send();
        if (!valid) {
            write(); // as one that does not look
        }
    }

    private boolean look() {
        long before = System.nanoTime();
        if (!process.unbroken(connection)) {
            return false;
        }
        confirmed = before;
        return true;
    }

    private void write() throws Exception {
        if (random.nextInt(LATE_EVERY) == 0) {
            TimeUnit.NANOSECONDS.sleep(upTo(LATE_MOST));
        }
        tell("write").number("t", token).number("c", System.nanoTime()).number("v", confirmed)
                .send();
        String answer = line.receive();
        if (answer == null) {
            throw new IOException("the controller is gone");
        }
        if (!answer.contains("true")) {
            long at = System.nanoTime();
            tell("recheck").number("t", token)
                    .number("v", process.unbroken(connection) ? at : 0).send();
        }
    }

    private void unlock(NamedLocks.Mutex mutex) throws IOException {
        long call = System.nanoTime();
        String error = release(mutex);
        SoakLine.Report report =
                tell("unlocked").number("t", token).text("o", "unlock").number("c", call)
                        .number("a", System.nanoTime());
        if (!error.isEmpty()) {
            report.text("e", error);
        }
        report.send();
    }

    /** Gives the lock back; where that fails Curator goes on trying by itself. */
    private static String release(NamedLocks.Mutex mutex) {
        try {
            mutex.release();
            return "";
        } catch (Exception e) {
            return e.getClass().getSimpleName();
        }
    }

    private long length() {
        if (random.nextInt(options.calm() ? CALM_LONG_EVERY : LONG_EVERY) == 0) {
            return options.nanos("session") / 2 + upTo(options.nanos("session"));
        }
        return options.holdMin() + upTo(options.holdMax() - options.holdMin());
    }

    private long upTo(long most) {
        return (long) (random.nextDouble() * most);
    }
}
