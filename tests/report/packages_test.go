package main

import (
	"slices"
	"strings"
	"testing"
)

func TestPackages(t *testing.T) {
	const module = "github.com/turnstile-locks/turnstile/"
	for _, tc := range []struct {
		name, first, without, args, want string
	}{
		{"nothing special", "", "", "-v ./...", "-v ./..."},
		{"the longest first", "./tests ./zkconn", "", "-v ./...", "-v ./tests ./zkconn ./..."},
		{"without some", "../child", "../rig/kdc", "-v ../rig/...", "-v ../child " + module + "tests/rig"},
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
