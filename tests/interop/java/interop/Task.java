package interop;

/** Something to do with a recipe. */
public interface Task {
    /** Does it, or throws what is wrong. */
    Summary run(Job job) throws Exception;
}
