package interop;

/** The tasks by their names. */
final class Tasks {
    private Tasks() {}

    static Task named(String name) {
        return switch (name) {
            case "contest" -> new Contest();
            case "timeout" -> new TimeoutCheck();
            case "sharing" -> new SharingCheck();
            case "closed-session" -> new ClosedSessionCheck();
            case "reentrancy" -> new ReentrancyCheck();
            case "revocation" -> new RevocationCheck();
            case "downgrade" -> new DowngradeCheck();
            case "downgrade-beside-waiter" -> new DowngradeBesideWaiterCheck();
            case "upgrade" -> new UpgradeCheck();
            case "giving-back" -> new GivingBackCheck();
            case "asking" -> new AskingTask();
            case "revocable" -> new RevocableTask();
            case "bench" -> new Bench();
            case "queueing" -> new Queueing();
            default -> throw new IllegalArgumentException("no task is named " + name);
        };
    }
}
