package interop

// CuratorCommand is the command line of a JVM that runs a class of package interop with Curator, for programs that
// are no tests; arguments follow it. Call [RemovePrograms] when it runs no more.
func CuratorCommand(class string) ([]string, error) {
	command, err := curatorCommand()
	if err != nil {
		return nil, err
	}
	command[len(command)-1] = "interop." + class
	return command, nil
}
