package interop;

/** Lets workers of the soak begin requests, or not, and ends their pauses. */
final class SoakGate {
    private boolean quiet;
    private boolean stopped;
    private int inside;
    private int rings;

    /** Waits until a request may begin; false when none may any more. */
    synchronized boolean enter() throws InterruptedException {
        while (quiet && !stopped) {
            wait();
        }
        if (!stopped) {
            inside++;
        }
        return !stopped;
    }

    synchronized void leave() {
        inside--;
        notifyAll();
    }

    synchronized void open() {
        quiet = false;
        notifyAll();
    }

    /** Lets none begin, and waits until none is under way. */
    synchronized void hush() throws InterruptedException {
        quiet = true;
        while (inside > 0 && quiet && !stopped) {
            wait();
        }
    }

    synchronized boolean hushed() {
        return quiet || stopped;
    }

    synchronized void stop() {
        stopped = true;
        notifyAll();
    }

    /** Ends all pauses that have begun. */
    synchronized void ring() {
        rings++;
        notifyAll();
    }

    /** Lasts for that long, or until ring. */
    synchronized void pause(long nanos) throws InterruptedException {
        long until = System.nanoTime() + nanos;
        int before = rings;
        for (long left = nanos; left > 0 && rings == before && !stopped; ) {
            wait(left / 1_000_000, (int) (left % 1_000_000));
            left = until - System.nanoTime();
        }
    }
}
