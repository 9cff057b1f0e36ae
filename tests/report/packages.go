package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// packages gives the arguments of go test in this module: the packages of first come before what the last argument
// names, and those of without are left out of that.
func packages(first, without, args []string) ([]string, error) {
	if len(args) == 0 {
		return first, nil
	}
	flags, last := args[:len(args)-1], args[len(args)-1:]
	if len(without) > 0 {
		var err error
		if last, err = list(last, without); err != nil {
			return nil, err
		}
	}
	return slices.Concat(flags, first, last), nil
}

// module is a module of its own, with the arguments of go test there.
type module struct {
	folder string
	args   []string
}

// modules gives the modules in folders, those of plain without -race and without the compiler's flags that go with it: what
// they import is compiled already, without these. Which packages of this module are tested says nothing of theirs: all are.
func modules(folders, plain, args []string) (all []module, err error) {
	for _, folder := range plain {
		if !slices.Contains(folders, folder) {
			return nil, fmt.Errorf("-plain %s is not in -beside", folder)
		}
	}
	for _, folder := range folders {
		withoutRace := slices.Contains(plain, folder)
		flags := slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
			return strings.HasPrefix(arg, "./") || withoutRace && (arg == "-race" || strings.HasPrefix(arg, "-gcflags="))
		})
		all = append(all, module{folder, append(flags, "./...")})
	}
	return all, nil
}

// list gives the import paths of the packages that a pattern of some matches, and none of others. The go command says which
// each matches, so that it is asked once.
func list(some, others []string) ([]string, error) {
	patterns := slices.Concat(some, others)
	cmd := exec.Command("go", append([]string{"list", "-f", "{{.ImportPath}} {{join .Match \" \"}}"}, patterns...)...)
	cmd.Stderr = os.Stderr
	listed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %v: %w", patterns, err)
	}
	var names []string
	for line := range strings.Lines(string(listed)) {
		matched := strings.Fields(line)[1:]
		is := func(pattern string) bool { return slices.Contains(matched, pattern) }
		if slices.ContainsFunc(some, is) && !slices.ContainsFunc(others, is) {
			names = append(names, strings.Fields(line)[0])
		}
	}
	return names, nil
}
