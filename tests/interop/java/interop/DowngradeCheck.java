package interop;

/** A writer becomes a reader without letting a writer in between. */
final class DowngradeCheck implements Task {
    @Override
    public Summary run(Job job) throws Exception {
        try (Sessions sessions = Sessions.open(job, 3);
                Witness first = new Witness(job, 1, 1);
                Witness second = new Witness(job, 2, 1);
                Witness third = new Witness(job, 3, 1)) {
            Recipes recipes = new Recipes(job, sessions.client(1));
            Recipe write = recipes.named("write");
            Recipe read = recipes.named("read");
            Recipe reader = new Recipes(job, sessions.client(2)).named("read");
            Recipe writer = new Recipes(job, sessions.client(3)).named("write");
            write.acquire(0);
            first.enter(write);
            Check.granted(read, job, "the writer, as a reader");
            Check.refused(reader, "a reader, while the writer is one yet");
            first.change(read);
            write.release();

            Check.granted(reader, job, "a second reader");
            second.enter(reader);
            Check.refused(writer, "a writer, while there are readers");
            second.leave(reader);
            reader.release();
            Check.refused(writer, "a writer, while there is the first reader");
            first.leave(read);
            read.release();
            Check.granted(writer, job, "the writer");
            third.enter(writer);
            third.leave(writer);
            writer.release();
            Check.that(Leftovers.ephemerals(sessions.client(3), job.path()) == 0, "nothing is left");
        }
        return Summary.NOTHING;
    }
}
