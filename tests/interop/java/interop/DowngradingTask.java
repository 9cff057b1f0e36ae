package interop;

/** A writer that becomes a reader without leaving, and reads for a while. */
final class DowngradingTask implements Task {
    @Override
    public Summary run(Job job) throws Exception {
        try (Sessions sessions = Sessions.open(job, 1);
                Witness witness = new Witness(job, 1, 1)) {
            Recipes recipes = new Recipes(job, sessions.client(1));
            Recipe write = recipes.named("write");
            Recipe read = recipes.named("read");
            write.acquire(0);
            witness.enter(write);
            read.acquire(0);
            witness.change(read);
            write.release();
            Thread.sleep(job.holdMillis());
            witness.leave(read);
            read.release();
            Leftovers.refuse(sessions.client(1), job.path());
        }
        return new Summary(1, 0, 0);
    }
}
