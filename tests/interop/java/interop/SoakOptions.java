package interop;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The flags of a client of the soak: -name value, durations as Go writes them. */
final class SoakOptions {
    private static final Pattern PART = Pattern.compile("([0-9.]+)(h|ms|m|s|us|µs|ns)");
    private static final Map<String, Double> UNITS =
            Map.of(
                    "h", 3.6e12, "m", 6e10, "s", 1e9, "ms", 1e6, "us", 1e3, "µs", 1e3, "ns",
                    1.0);

    private final Map<String, String> values = new HashMap<>();

    private SoakOptions() {}

    static SoakOptions parse(String[] args) {
        SoakOptions options = new SoakOptions();
        for (int i = 0; i + 1 < args.length; i += 2) {
            options.values.put(args[i].substring(1), args[i + 1]);
        }
        return options;
    }

    String text(String name) {
        String value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("-" + name + " is missing");
        }
        return value;
    }

    int number(String name) {
        return Integer.parseInt(text(name));
    }

    long nanos(String name) {
        return duration(text(name));
    }

    long millis(String name) {
        return nanos(name) / 1_000_000;
    }

    long holdMin() {
        return duration(text("hold").split("-")[0]);
    }

    long holdMax() {
        return duration(text("hold").split("-")[1]);
    }

    /** Calm clients come after the busy ones. */
    boolean calm() {
        return number("client") >= number("clients");
    }

    int workers() {
        return number(calm() ? "calm-workers" : "workers");
    }

    private static long duration(String text) {
        double nanos = 0;
        Matcher parts = PART.matcher(text);
        while (parts.find()) {
            nanos += Double.parseDouble(parts.group(1)) * UNITS.get(parts.group(2));
        }
        return (long) nanos;
    }
}
