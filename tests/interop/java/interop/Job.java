package interop;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One thing to do, as the Go side's Job describes it. */
public record Job(
        String name,
        String task,
        String recipe,
        String connect,
        String path,
        String witness,
        int sessions,
        int threads,
        int rounds,
        int permits,
        int holdMillis,
        int patienceMillis,
        int sessionTimeoutMillis,
        int limitMillis,
        int warmMillis,
        int spanMillis,
        boolean apart,
        String guard,
        int process) {

    /** Reads key=value words. */
    static Job parse(List<String> words) {
        Map<String, String> values = new HashMap<>();
        for (String word : words) {
            String[] pair = word.split("=", 2);
            if (pair.length != 2) {
                throw new IllegalArgumentException("not key=value: " + word);
            }
            values.put(pair[0], pair[1]);
        }
        return new Job(
                values.getOrDefault("name", "worker"),
                values.getOrDefault("task", "contest"),
                needed(values, "recipe"),
                needed(values, "connect"),
                needed(values, "path"),
                values.getOrDefault("witness", ""),
                number(values, "sessions", 1),
                number(values, "threads", 1),
                number(values, "rounds", 1),
                number(values, "permits", 1),
                number(values, "hold_ms", 0),
                number(values, "patience_ms", 0),
                number(values, "session_timeout_ms", 30_000),
                number(values, "limit_ms", 60_000),
                number(values, "warm_ms", 0),
                number(values, "span_ms", 0),
                number(values, "apart", 0) != 0,
                values.getOrDefault("guard", ""),
                number(values, "process", 0));
    }

    private static String needed(Map<String, String> values, String key) {
        String value = values.getOrDefault(key, "");
        if (value.isEmpty()) {
            throw new IllegalArgumentException(key + " is missing");
        }
        return value;
    }

    private static int number(Map<String, String> values, String key, int otherwise) {
        return values.containsKey(key) ? Integer.parseInt(values.get(key)) : otherwise;
    }

    /** The name by which the witness knows a thread; both count from 1. */
    String holder(int session, int thread) {
        return name + "/" + session + "." + thread;
    }
}
