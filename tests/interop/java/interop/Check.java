package interop;

/** What the checks say when something is not so. */
final class Check {
    /** How long one tries what must not succeed. */
    static final int SHORT_MILLIS = 50;

    private Check() {}

    static void that(boolean condition, String claim) {
        if (!condition) {
            throw new AssertionError("it is not so: " + claim);
        }
    }

    static void refused(Recipe recipe, String who) throws Exception {
        that(!recipe.acquire(SHORT_MILLIS), who + " is kept out");
    }

    static void granted(Recipe recipe, Job job, String who) throws Exception {
        that(recipe.acquire(job.limitMillis()), who + " is let in");
    }
}
