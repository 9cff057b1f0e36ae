package interop;

import java.util.Map;

/** Where all threads are, for a job that does not end. */
final class ThreadDump {
    private ThreadDump() {}

    static void print() {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<Thread, StackTraceElement[]> one : Thread.getAllStackTraces().entrySet()) {
            text.append(one.getKey()).append('\n');
            for (StackTraceElement frame : one.getValue()) {
                text.append("    at ").append(frame).append('\n');
            }
        }
        synchronized (System.err) {
            System.err.print(text);
        }
    }
}
