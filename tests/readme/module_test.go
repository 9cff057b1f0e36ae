//go:build unix

package readme

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// version is the version that the clone is published as.
const version = "v0.0.1"

// publish makes a module proxy, in files, of which the clone is the only version, and gives what has to be in the
// environment for the go command to ask it; what others have published comes from what this machine has downloaded, or
// from where it downloads.
func (p *place) publish(t *testing.T) []string {
	t.Helper()
	proxy, module := t.TempDir(), ours(t, p)
	folder := filepath.Join(proxy, module, "@v") // there are no capitals in it, which would be spelt otherwise
	require.NoError(t, os.MkdirAll(folder, 0o700))
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	definition, err := os.ReadFile(filepath.Join(p.folder, "go.mod"))
	require.NoError(t, err)
	write("list", version+"\n")
	write(version+".info", fmt.Sprintf(`{"Version":%q}`, version))
	write(version+".mod", string(definition))
	archive := fmt.Sprintf("git archive --format=zip --prefix=%s@%s/ -o '%s.zip' HEAD -- .", module, version, filepath.Join(folder, version))
	for _, other := range strings.Fields(p.run(t, "git ls-files -- '*/go.mod'")) { // which are not published with this one
		archive += " ':(exclude)" + filepath.Dir(other) + "'"
	}
	p.run(t, archive)
	return []string{"GOPROXY=file://" + proxy + ",file://" + goEnv(t, "GOMODCACHE") + "/cache/download," + goEnv(t, "GOPROXY"),
		"GOSUMDB=off", "GOMODCACHE=" + t.TempDir(), "GOFLAGS=-modcacherw " + shared}
}

// away is a folder far from any module and any clone, where the published one can be had.
func (p *place) away(t *testing.T) *place {
	t.Helper()
	away := *p
	away.folder, away.env = t.TempDir(), append(p.env[:len(p.env):len(p.env)], p.publish(t)...)
	return &away
}

// goEnv has the settings of the go command in the test's environment.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	value, err := exec.Command("go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(value))
}

// gets carries a go get out in another module, and builds a program there with what it got.
func gets(t *testing.T, p *place, command string) {
	another := p.away(t)
	another.run(t, "go mod init example.com/another")
	another.run(t, command)
	require.NoError(t, os.WriteFile(filepath.Join(another.folder, "main.go"), []byte(`package main

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/messages"
)

func main() { fmt.Println(messages.Exclusive) }
`), 0o600))
	require.Contains(t, another.run(t, "go list -m all"), ours(t, p)+" "+version)
	require.Equal(t, "exclusive\n", another.run(t, "go run ."))
}

// installs carries a go install out, far from any module; the commands after it find what it installed.
func installs(t *testing.T, p *place, command string) {
	p.away(t).run(t, command)
	require.Contains(t, p.run(t, "go version -m '"+filepath.Join(p.bin, "zklock")+"'"), ours(t, p)+"\t"+version)
}

// runsAway carries a go run of a published package out, far from any module and any clone.
func runsAway(text string) check {
	return func(t *testing.T, p *place, command string) {
		require.Contains(t, p.away(t).run(t, command), text)
	}
}
