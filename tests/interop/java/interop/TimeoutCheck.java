package interop;

import java.util.List;
import org.apache.curator.framework.CuratorFramework;

/** Giving up on a lock that is held elsewhere: false, and no node is left. */
final class TimeoutCheck implements Task {
    @Override
    public Summary run(Job job) throws Exception {
        try (Sessions sessions = Sessions.open(job, 2);
                Witness first = new Witness(job, 1, 1);
                Witness second = new Witness(job, 2, 1)) {
            CuratorFramework client = sessions.client(2);
            Recipe holder =
                    new Recipes(job, sessions.client(1)).named(Recipes.opponent(job.recipe()));
            Recipe other = new Recipes(job, client).named(job.recipe());

            holder.acquire(0);
            first.enter(holder);
            List<String> before = Leftovers.below(client, job.path());
            Check.refused(other, "whoever comes second");
            Check.that(
                    Leftovers.below(client, job.path()).equals(before),
                    "giving up leaves " + before);
            first.leave(holder);
            holder.release();

            Check.granted(other, job, "whoever comes after the release");
            second.enter(other);
            second.leave(other);
            other.release();
            Check.that(Leftovers.ephemerals(client, job.path()) == 0, "nothing is left");
        }
        return Summary.NOTHING;
    }
}
