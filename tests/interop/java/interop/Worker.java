package interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Does jobs with Curator's lock recipes. Every line of standard input is a job,
 * {@code <id> <key=value>...}; jobs run at the same time, and the process ends with its input.
 */
public final class Worker {
    private Worker() {}

    public static void main(String[] args) throws Exception {
        ExecutorService jobs = Executors.newCachedThreadPool();
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            List<String> words = Arrays.asList(line.split(" "));
            jobs.execute(() -> answer(words.get(0), words.subList(1, words.size())));
        }
        jobs.shutdown();
        jobs.awaitTermination(10, TimeUnit.SECONDS);
        System.exit(0); // also where a job hangs, whose outcome nobody waits for
    }

    /** Does a job and prints its outcome, with the id after the first word. */
    private static void answer(String id, List<String> arguments) {
        String outcome = outcome(arguments).replaceFirst(" ", " " + id + " ");
        synchronized (System.out) {
            System.out.println(outcome);
            System.out.flush();
        }
    }

    private static String outcome(List<String> arguments) {
        try {
            Job job = Job.parse(arguments);
            return "done " + Tasks.named(job.task()).run(job);
        } catch (Exception | Error e) {
            synchronized (System.err) {
                e.printStackTrace();
            }
            return "failed " + e.toString().replaceAll("\\s+", " ");
        }
    }
}
