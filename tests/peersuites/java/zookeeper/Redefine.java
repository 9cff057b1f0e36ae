package zookeeper;

import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;
import static net.bytebuddy.matcher.ElementMatchers.takesNoArguments;

import java.io.File;
import java.io.IOException;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.implementation.Implementation;
import net.bytebuddy.implementation.MethodDelegation;
import net.bytebuddy.pool.TypePool;

/**
 * Writes two classes to the folder that is named, as they are but for three methods: ClientBase starts and stops a
 * stand-in, and JMXEnv does not look for what a server inside the process would publish of its sessions.
 */
public final class Redefine {
    private static final ClassFileLocator FILES = ClassFileLocator.ForClassLoader.ofSystemLoader();

    private Redefine() {}

    public static void main(String[] args) throws IOException {
        File folder = new File(args[0]);
        redefine("ClientBase")
                .method(named("startServer").and(takesArguments(int.class)))
                .intercept(by("start"))
                .method(named("stopServer").and(takesNoArguments()))
                .intercept(by("stop"))
                .make()
                .saveIn(folder);
        redefine("JMXEnv").method(named("ensureAll")).intercept(by("beans")).make().saveIn(folder);
    }

    private static DynamicType.Builder<?> redefine(String name) {
        TypeDescription type = TypePool.Default.of(FILES)
                .describe("org.apache.zookeeper.test." + name)
                .resolve();
        return new ByteBuddy().redefine(type, FILES);
    }

    private static Implementation by(String method) {
        return MethodDelegation.withDefaultConfiguration().filter(named(method)).to(Servers.class);
    }
}
