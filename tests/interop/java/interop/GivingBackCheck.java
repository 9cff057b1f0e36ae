package interop;

import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** A multi-lock of which one part cannot be had gives the other parts back. */
final class GivingBackCheck implements Task {
    @Override
    public Summary run(Job job) throws Exception {
        try (Sessions sessions = Sessions.open(job, 2);
                Witness witness = new Witness(job, 1, 1)) {
            CuratorFramework client = sessions.client(1);
            String a = Recipes.parts(job).get(0);
            String b = Recipes.parts(job).get(1);
            Recipe multi = new Recipes(job, client).named("multi");
            InterProcessMutex held = new InterProcessMutex(sessions.client(2), b);
            held.acquire();
            Check.refused(multi, "who wants both, of which one is held");
            Check.that(Leftovers.ephemerals(client, a) == 0, "the first part is given back");
            Check.that(Leftovers.ephemerals(client, b) == 1, "the second is held by one alone");

            Check.that(failsWithOneThatFails(client, a), "a part's failure is told");
            Check.that(Leftovers.ephemerals(client, a) == 0, "the first part is given back then");
            held.release();

            Check.granted(multi, job, "who wants both, when both are free");
            witness.enter(multi);
            Check.that(Leftovers.ephemerals(client, job.path()) == 2, "both are held");
            witness.leave(multi);
            multi.release();
            Check.that(Leftovers.ephemerals(client, job.path()) == 0, "nothing is left");
        }
        return Summary.NOTHING;
    }

    /** Whether a multi-lock of a mutex and one that throws throws. */
    private static boolean failsWithOneThatFails(CuratorFramework client, String path)
            throws Exception {
        List<InterProcessLock> parts =
                List.of(new InterProcessMutex(client, path), new FailingLock());
        try {
            new InterProcessMultiLock(parts).acquire();
            return false;
        } catch (FailingLock.Failure expected) {
            return true;
        }
    }
}
