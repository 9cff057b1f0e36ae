package interop;

/** Two sessions hold together what may be held together: as readers, or with two permits. */
final class SharingCheck implements Task {
    @Override
    public Summary run(Job job) throws Exception {
        try (Sessions sessions = Sessions.open(job, 3);
                Witness first = new Witness(job, 1, 1);
                Witness second = new Witness(job, 2, 1)) {
            Recipe one = new Recipes(job, sessions.client(1)).named(job.recipe());
            Recipe two = new Recipes(job, sessions.client(2)).named(job.recipe());
            Recipe third =
                    new Recipes(job, sessions.client(3)).named(Recipes.opponent(job.recipe()));
            Check.granted(one, job, "the first");
            first.enter(one);
            Check.granted(two, job, "the second");
            second.enter(two);
            Check.refused(third, "one more, or the writer");
            first.leave(one);
            one.release();
            second.leave(two);
            two.release();
            Check.granted(third, job, "the one who was kept out");
            third.release();
            Check.that(Leftovers.ephemerals(sessions.client(3), job.path()) == 0, "nothing is left");
        }
        return Summary.NOTHING;
    }
}
