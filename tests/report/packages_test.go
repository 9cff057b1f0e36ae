package main

import (
	"slices"
	"strings"
	"testing"
)

func TestPackages(t *testing.T) {
	for _, tc := range []struct {
		name, first, without, args, want string
	}{
		{"nothing special", "", "", "-v ./...", "-v ./..."},
		{"the longest first", "./tests ./zkconn", "", "-v ./...", "-v ./tests ./zkconn ./..."},
		{"without some", "../child", "../rig/kdc ../rig/archive ../rig/pinned/...", "-v ../rig/...", "-v ../child ./../rig"},
		{"no packages", "", "", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := packages(strings.Fields(tc.first), strings.Fields(tc.without), strings.Fields(tc.args))
			if err != nil || !slices.Equal(got, strings.Fields(tc.want)) {
				t.Errorf("%v, %v; want %s", got, err, tc.want)
			}
		})
	}
	if got, err := packages(nil, []string{"./nowhere"}, []string{"./..."}); err == nil {
		t.Errorf("%v of a package that does not exist", got)
	}
}

func TestModules(t *testing.T) {
	args := []string{"-race", "-count=1", "-gcflags=all=-x", "./actors", "./tests/..."}
	all, err := modules([]string{"tests/dashboard", "tests/soak"}, []string{"tests/dashboard"}, args)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []module{
		{"tests/dashboard", []string{"-count=1", "./..."}},
		{"tests/soak", []string{"-race", "-count=1", "-gcflags=all=-x", "./..."}},
	} {
		if got := all[i]; got.folder != want.folder || !slices.Equal(got.args, want.args) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if _, err := modules([]string{"tests/soak"}, []string{"tests/dashboard"}, args); err == nil {
		t.Error("a folder that is not tested is taken")
	}
}
