package interop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * One holder's line to the witness, who judges whether it may be inside. Every report waits for
 * the answer. Without an address, nobody is told.
 */
final class Witness implements AutoCloseable {
    private final String holder;
    private final Socket socket;
    private final OutputStream reports;
    private final BufferedReader answers;

    Witness(Job job, int session, int thread) throws IOException {
        holder = job.holder(session, thread);
        if (job.witness().isEmpty()) {
            socket = null;
            reports = null;
            answers = null;
            return;
        }
        int colon = job.witness().lastIndexOf(':');
        int port = Integer.parseInt(job.witness().substring(colon + 1));
        socket = new Socket(job.witness().substring(0, colon), port);
        socket.setTcpNoDelay(true);
        reports = socket.getOutputStream();
        answers =
                new BufferedReader(
                        new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Says that the holder is inside. */
    void enter(Recipe recipe) throws IOException {
        report("enter " + holder + " " + recipe.place() + " " + recipe.claim() + " " + recipe.node());
    }

    /** Says that the holder, who is inside, has another claim from now on. */
    void change(Recipe recipe) throws IOException {
        report("change " + holder + " " + recipe.place() + " " + recipe.claim());
    }

    /** Says that the holder is about to release. */
    void leave(Recipe recipe) throws IOException {
        report("leave " + holder + " " + recipe.place());
    }

    private void report(String line) throws IOException {
        if (socket == null) {
            return;
        }
        reports.write((line.stripTrailing() + "\n").getBytes(StandardCharsets.UTF_8));
        reports.flush();
        String answer = answers.readLine();
        if (!"ok".equals(answer)) {
            throw new IllegalStateException("the witness says to '" + line + "': " + answer);
        }
    }

    @Override
    public void close() throws IOException {
        if (socket != null) {
            socket.close();
        }
    }
}
