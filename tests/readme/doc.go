// Package readme holds the pages, which are the Markdown files, and the package docs to the code that is there.
//
//   - TestRealCommands takes every command out of the pages and carries it out as it is written, in a
//     clean clone of the repository's HEAD, with an empty GOPROXY. It runs quickstart, the
//     dashboard and the embedded server, and installs zklock and runs it against that server. The
//     modules that go get and go install ask for are published on a proxy of files, as the clone
//     has them. Commands that take minutes, such as make test-all itself, are carried out by make
//     readme. make test-all checks less of them: that make knows the target, that the program knows the
//     flags. TestEveryCommandIsKnown fails when a command is in neither list, or a list names one
//     that is gone. Seven targets of make are only looked at: six take five hours together, and
//     screenshots writes into the repository.
//   - TestCommandsOfPackageDocs: the commands of package docs name packages,
//     flags, tests, targets and subcommands that there are. TestExamplesOfHelp of examples/zklock
//     has zklock take apart the commands that its help and its manual page show.
//   - TestCodeIsFromTheExamples: each block of Go in a page names, in a comment before it, the file in which the same
//     lines are compiled and run.
//   - TestLinks: relative links lead to files and headings. TestEveryPageIsFound: README.md leads to every page.
//     TestPackageDocs: files, folders, tests, examples and benchmarks that pages and package docs name exist.
//
// A port that a page names and that is taken on this machine is replaced by a free one.
package readme
