package interop;

import java.util.List;
import org.apache.curator.framework.CuratorFramework;

/** A reader may not become a writer, and goes on to be a reader when it has tried. */
final class UpgradeCheck implements Task {
    @Override
    public Summary run(Job job) throws Exception {
        try (Sessions sessions = Sessions.open(job, 2);
                Witness first = new Witness(job, 1, 1);
                Witness second = new Witness(job, 2, 1)) {
            CuratorFramework client = sessions.client(1);
            Recipes recipes = new Recipes(job, client);
            Recipe read = recipes.named("read");
            Recipe write = recipes.named("write");
            Recipe writer = new Recipes(job, sessions.client(2)).named("write");
            read.acquire(0);
            first.enter(read);
            List<String> before = Leftovers.below(client, job.path());
            Check.refused(write, "the reader, as a writer");
            Check.that(
                    Leftovers.below(client, job.path()).equals(before), "it leaves " + before);
            Check.refused(writer, "another writer");
            first.leave(read);
            read.release();
            Check.granted(writer, job, "the other writer, once there is no reader");
            second.enter(writer);
            second.leave(writer);
            writer.release();
            Check.that(Leftovers.ephemerals(client, job.path()) == 0, "nothing is left");
        }
        return Summary.NOTHING;
    }
}
