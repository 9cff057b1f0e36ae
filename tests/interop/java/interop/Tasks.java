package interop;

/** The tasks by their names. */
final class Tasks {
    private Tasks() {}

    static Task named(String name) {
        return switch (name) {
            case "contest" -> new Contest();
            case "downgrading" -> new DowngradingTask();
            case "asking" -> new AskingTask();
            case "revocable" -> new RevocableTask();
            case "bench" -> new Bench();
            case "queueing" -> new Queueing();
            default -> throw new IllegalArgumentException("no task is named " + name);
        };
    }
}
