// Package readme holds README.md and the package docs to what is there.
//
//   - TestCommands takes every command out of the README and carries it out as it is written, in a clean clone of the
//     repository's HEAD, with an empty GOPROXY: quickstart, dashboard, the embedded server, zklock installed and run
//     against it. What go get and go install ask for is published on a proxy of files, as the clone has it. Commands that
//     take minutes, such as make test itself, are carried out by make readme; make test has of them what can be said in
//     less: that make knows the target, that the program knows the flags. TestEveryCommandIsKnown fails when a command is
//     in neither list, or a list names one that is gone.
//   - TestCodeIsFromTheExamples: each block of Go in the README names, in a comment before it, the file in which the same
//     lines are compiled and run.
//   - TestLinks: relative links in the README and the changelog lead to files and headings. TestPackageDocs: files, folders,
//     tests, examples and benchmarks that they and package docs name exist.
//
// A port that the README names and that is taken on this machine is replaced by a free one.
package readme
