package zookeeper;

import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;
import static net.bytebuddy.matcher.ElementMatchers.takesNoArguments;

import java.io.File;
import java.io.IOException;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.implementation.MethodDelegation;
import net.bytebuddy.pool.TypePool;

/** Writes ClientBase as it is, but for the two methods that start and stop its server, to the folder that is named. */
public final class Redefine {
    private Redefine() {}

    public static void main(String[] args) throws IOException {
        ClassFileLocator files = ClassFileLocator.ForClassLoader.ofSystemLoader();
        TypeDescription base = TypePool.Default.of(files)
                .describe("org.apache.zookeeper.test.ClientBase")
                .resolve();
        new ByteBuddy()
                .redefine(base, files)
                .method(named("startServer").and(takesArguments(int.class)))
                .intercept(MethodDelegation.withDefaultConfiguration()
                        .filter(named("start"))
                        .to(Servers.class))
                .method(named("stopServer").and(takesNoArguments()))
                .intercept(MethodDelegation.withDefaultConfiguration()
                        .filter(named("stop"))
                        .to(Servers.class))
                .make()
                .saveIn(new File(args[0]));
    }
}
