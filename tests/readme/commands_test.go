//go:build unix

package readme

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A check carries out a command of the README, or what can be of it.
type check func(t *testing.T, p *place, command string)

// commands are all that the README has; whatever is not here makes TestEveryCommandIsKnown fail.
var commands = map[string]check{
	"go run ./examples/quickstart":                      prints("ok: 40 grants, at most 1 holder at a time, tokens strictly increasing"),
	"go run ./examples/dashboard -demo":                 serves,
	"go run ./examples/embedded -listen 127.0.0.1:2181": goesOn("what it holds is in memory"),
	"export ZOOKEEPER_SERVERS=127.0.0.1:2181":           exports,
	"zklock doctor": prints("is gone"),
	`zklock run --wait 30s --label nightly /backup -- sh -c 'echo "fencing token $ZKLOCK_TOKEN"'`: prints("fencing token "),
	"zklock queue /backup": prints("/backup: nobody holds it"),
	"zklock tree /":        prints("below /"),
	"zklock graph /":       prints("below /"),
	"go run ./examples/dashboard -zk 127.0.0.1:2181 -root /": serves,
	"make help":             prints("list the targets"),
	"go doc ./locks/guides": prints("Fencing: what a lock cannot do for you"),

	// Those that cannot be carried out here, and what can be said of them.

	"go get github.com/turnstile-locks/turnstile":                            isOurs,    // it needs the network, and another module
	"go install github.com/turnstile-locks/turnstile/examples/zklock@latest": installed, // it needs the network
	"go run ./tests/soak -duration 1h -seed 41":                              hasFlags,  // it takes an hour
	"go run ./tests/soak -duration 28m -peer zklock":                         hasFlags,
	"go test ./...":      lists,  // it would be carried out by itself
	"make test":          target, // the same
	"make race":          target,
	"make walk":          target, // minutes, and hours
	"make soak":          target,
	"make soak-faults":   target,
	"make soak-simulate": target,
	"make bench":         target,
	"make bench-peers":   target,
	"make profile":       target,
	"make diagram":       target, // it writes into the README; actors/machine has the test
}

// TestEveryCommandIsKnown: also one that was written this minute, and is not committed yet.
func TestEveryCommandIsKnown(t *testing.T) {
	written := make(map[string]bool)
	for _, command := range readPage(t, root).commands() {
		written[command] = true
		if commands[command] == nil {
			t.Errorf("README.md has a command that no test knows: %s", command)
		}
	}
	for command := range commands {
		if !written[command] {
			t.Errorf("README.md does not have a command any more that a test knows: %s", command)
		}
	}
}

// TestCommands carries all of them out, in the order of the page.
func TestCommands(t *testing.T) {
	p := newPlace(t)
	done := make(map[string]bool)
	for _, command := range readPage(t, p.folder).commands() {
		if done[command] || commands[command] == nil { // that is the other test's
			continue
		}
		done[command] = true
		begin := time.Now()
		commands[command](t, p, command)
		t.Logf("%5.1f s  %s", time.Since(begin).Seconds(), command)
	}
}

// prints carries a command out, which is to succeed and to print a text.
func prints(text string) check {
	return func(t *testing.T, p *place, command string) {
		require.Contains(t, p.run(t, command), text, command)
	}
}

// goesOn starts a command that goes on until the test ends, and waits for what it prints when it is ready.
func goesOn(text string) check {
	return func(t *testing.T, p *place, command string) { p.leave(t, command, text) }
}

func exports(t *testing.T, p *place, command string) { p.export(t, command) }

var page1 = regexp.MustCompile(`dashboard: (http://\S+)`)

// serves starts the dashboard, looks at its page, and ends it.
func serves(t *testing.T, p *place, command string) {
	t.Run("dashboard", func(t *testing.T) {
		address := page1.FindStringSubmatch(p.leave(t, command, "\ndashboard: http://"))
		require.NotNil(t, address, command)
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address[1], nil)
		require.NoError(t, err)
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, response.StatusCode)
		require.Contains(t, string(body), "<title>")
	})
}

// ours is what the module is called.
func ours(t *testing.T, p *place) string {
	return strings.TrimSpace(p.run(t, "go list -m"))
}

func isOurs(t *testing.T, p *place, command string) {
	require.Equal(t, "go get "+ours(t, p), command)
}

// installed installs what the command names, from the clone instead of from the newest version, so that the commands after
// it can be carried out.
func installed(t *testing.T, p *place, command string) {
	program, found := strings.CutPrefix(command, "go install "+ours(t, p)+"/")
	require.True(t, found, command)
	program, found = strings.CutSuffix(program, "@latest")
	require.True(t, found, command)
	p.run(t, "go install ./"+program)
	_, err := os.Stat(filepath.Join(p.bin, filepath.Base(program)))
	require.NoError(t, err)
}

var flags = regexp.MustCompile(` -([a-z-]+)`)

// hasFlags has a program list its flags: those of the command are among them.
func hasFlags(t *testing.T, p *place, command string) {
	program := strings.Fields(command)[2]
	help := p.run(t, "go run "+program+" -help")
	for _, flag := range flags.FindAllStringSubmatch(command, -1) {
		require.Contains(t, help, "\n  -"+flag[1]+" ", command)
	}
}

// lists has go name the packages that the command is for.
func lists(t *testing.T, p *place, command string) {
	require.Contains(t, p.run(t, strings.Replace(command, "go test", "go list", 1)), "/tests/readme")
}

// target has make say what it would do.
func target(t *testing.T, p *place, command string) {
	require.NotEmpty(t, p.run(t, strings.Replace(command, "make ", "make -n ", 1)), command)
}
