package interop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A connection to the soak's controller: one JSON object a line, either way. */
final class SoakLine {
    private final Socket socket;
    private final BufferedReader in;
    private final OutputStream out;
    private final String from;

    /** One of a worker, or with -1 that of the process. */
    SoakLine(SoakOptions options, int worker) throws IOException {
        String[] address = options.text("controller").split(":");
        socket = new Socket(address[0], Integer.parseInt(address[1]));
        socket.setTcpNoDelay(true);
        in =
                new BufferedReader(
                        new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        out = socket.getOutputStream();
        from =
                "{\"c\":"
                        + options.number("client")
                        + ",\"i\":"
                        + options.number("incarnation")
                        + ",\"w\":"
                        + worker
                        + "}";
    }

    String receive() throws IOException {
        return in.readLine();
    }

    void close() throws IOException {
        socket.close();
    }

    Report report(String kind) {
        return new Report(kind);
    }

    /** What a client tells; tests/soak/report.go says what the fields are. */
    final class Report {
        private final StringBuilder text = new StringBuilder("{\"f\":").append(from);

        private Report(String kind) {
            text("k", kind);
        }

        Report number(String name, long value) {
            text.append(",\"").append(name).append("\":").append(value);
            return this;
        }

        Report flag(String name) {
            text.append(",\"").append(name).append("\":true");
            return this;
        }

        Report text(String name, String value) {
            String plain = value.replaceAll("[\\p{Cntrl}\"\\\\]", " ");
            text.append(",\"").append(name).append("\":\"").append(plain).append('"');
            return this;
        }

        void send() throws IOException {
            byte[] line = text.append("}\n").toString().getBytes(StandardCharsets.UTF_8);
            synchronized (SoakLine.this) {
                out.write(line);
                out.flush();
            }
        }
    }
}
