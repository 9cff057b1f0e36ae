package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// list gives the folders of the packages that a pattern of some matches, and none of others. It looks for them itself: the
// go command takes a third of a second to list them, which is a tenth of make test where nothing has changed.
func list(some, others []string) ([]string, error) {
	leaves := map[string]bool{}
	for _, pattern := range others {
		all, err := folders(pattern)
		if err != nil {
			return nil, err
		}
		for _, folder := range all {
			leaves[folder] = true
		}
	}
	var all []string
	for _, pattern := range some {
		found, err := folders(pattern)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return slices.DeleteFunc(all, func(folder string) bool { return leaves[folder] }), nil
}

// folders gives the folders with Go files that a pattern matches: one, or with /... behind it all below it that the go
// command matches in this module.
func folders(pattern string) (all []string, err error) {
	root, below := strings.CutSuffix(pattern, "/...")
	root = filepath.Clean(root)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if path != root && (!below || left(path)) {
			return fs.SkipDir
		}
		files, err := filepath.Glob(filepath.Join(path, "*.go"))
		if len(files) > 0 {
			all = append(all, "./"+filepath.ToSlash(path))
		}
		return err
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("no packages in %s", pattern)
	}
	return all, err
}

// left reports whether the go command leaves out a folder of a pattern, and all below it.
func left(folder string) bool {
	name := filepath.Base(folder)
	_, none := os.Stat(filepath.Join(folder, "go.mod"))
	return none == nil || name == "testdata" || name == "vendor" || strings.ContainsAny(name[:1], "._")
}
