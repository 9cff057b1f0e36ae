// Package mistakes tests the test suites: it seeds mistakes into the code and says which suite must
// find them.
//
// A [Mistake] replaces texts in source files. [Mistake.Overlay] writes the changed files to a
// folder, with the file that `go build -overlay` and `go test -overlay` read; the source itself is
// not changed:
//
//	overlay, err := mistakes.LeaseTooLong.Overlay(root, t.TempDir())
//	exec.Command("go", "build", "-overlay", overlay, "-o", "soak", "./tests/soak")
//
// An [Edit] names a file, or the folder of a package, and a text that must occur exactly once there.
// With a folder it goes on to apply when functions move between files. A mistake that no longer
// applies, because the code has changed, is an error, and TestEveryMistakeApplies tells in seconds:
// adapt it.
//
// TestSimulationFinds and TestMatrixFinds run these suites with mistakes in the code. TestOwnTestsFind runs one test of
// one package with each mistake that needs no whole suite. TestRelistsFinds
// shows that each suite with waiters finds a lost wake-up, which only costs a session timeout (package
// relists). `make mistakes` runs them; `make soak-mistakes` does the same with the soak. They have the build tag
// mistakes, for they take minutes.
package mistakes
