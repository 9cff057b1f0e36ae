//go:build unix

package readme

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

// A check carries out a command of a page, or as much of it as can be.
type check func(t *testing.T, p *place, command string)

// commands are all that the pages have; a command that is not here makes TestEveryCommandIsKnown fail.
var commands = map[string]check{
	"go run ./examples/quickstart":                      prints("ok: 40 grants, at most 1 holder at a time, tokens strictly increasing"),
	"go run ./examples/dashboard -demo":                 serves("dashboard: ", "<title>"),
	"go run ./examples/embedded -listen 127.0.0.1:2181": goesOn("what it holds is in memory"),
	"go install ./examples/zklock":                      leavesAsItWas,
	"export ZOOKEEPER_SERVERS=127.0.0.1:2181":           exports,
	"zklock doctor":                                     prints("is gone"),
	`zklock run --wait 30s --label nightly /backup -- sh -c 'echo "fencing token $ZKLOCK_TOKEN"'`:  prints(`^fencing token \d+\n$`),
	`zklock run --for "$(date +%FT02:00%:z)" --start-within 1h /nightly -- /usr/local/bin/nightly`: hasFlagsOfZklock("run"), // it is for two o'clock
	`zklock run --for "$(date +%FT00:00%:z)" /daily -- echo done`:                                  prints(`^done\n$`),
	"zklock help run":      prints("--for instant"),
	"zklock queue /backup": prints("/backup: nobody holds it"),
	"zklock tree /":        prints("below /"),
	"zklock graph /":       prints("below /"),

	// Of guides: there is no such lock.
	"zklock queue /orders/42":                                hasFlagsOfZklock("queue"),
	"zklock trace /orders/42":                                hasFlagsOfZklock("trace"),
	"zklock revoke /orders/42":                               hasFlagsOfZklock("revoke"),
	"zklock break /orders/42 17":                             hasFlagsOfZklock("break"),
	"zklock tree /orders":                                    hasFlagsOfZklock("tree"),
	"go run ./examples/dashboard -zk 127.0.0.1:2181 -root /": serves("dashboard: ", "<title>"),
	"go -C examples/metrics run .":                           serves("figures at ", "turnstile_"),
	"zklock completion bash":                                 prints("__start_zklock"),
	"zklock man":                                             prints(`(?m)^\.SH "SYNOPSIS"$`),
	"make dist VERSION=v0.1.0":                               long(target),
	"make help":                                              prints("list the targets"),
	"go doc ./locks":                                         prints("func Do"),

	"go get github.com/turnstile-locks/turnstile":                            gets,
	"go install github.com/turnstile-locks/turnstile/examples/zklock@latest": installs,
	"go run github.com/turnstile-locks/turnstile/examples/quickstart@latest": runsAway("ok: 40 grants"),
	"make diagram":                      leavesAsItWas,
	"go generate ./actors/gateway/wire": long(saysWhat), // TestCodeIsFresh compares what it writes
	"go -C tests/soak run .":            known,
	"go -C tests/bench run . -workload idle -sizes 10000 -rounds 1 -patience 10m": known,

	// A row of its table.
	"go test -v -run TestWhatTheMarginCosts ./zkconn/lease": prints(`holders +outage of 0\.50 T ends +100\.0 %.* 74\.6 %.* 44\.6 %`),

	// Commands that take minutes: make test checks what it can, and make readme runs them.

	"go -C tests/soak run . -seed 41 -duration 2m":                                               long(known),
	"go test -v -run TestNoOverlapWhenManySessionsExpire ./tests/stalls -trials 200 -session 2s": long(known),
	"go test -v -run TestHoldersHearThatTheirLockIsTaken ./tests/stalls -trials 50":              long(known),
	"go run ./examples/cluster": long(builds), // examples_test.go runs it
	"go test -v -run 'TestWalk/plans/readers_and_a_writer$' ./actors/internal/walk":                    long(known),
	"go test -v -tags mistakes -run 'TestWalkFinds/hand_over_what_is_not_held' ./actors/internal/walk": long(known),
	"make test":       long(target),
	"make deps":       long(target),
	"make race":       long(target),
	"make walk":       long(target),
	"make lease-walk": long(target),
	"make mistakes":   long(target),
	"make soak SOAK=1m OPERATIONS=20000 SEEDS=2000 FUZZTIME=50000x": long(target),
	"make soak-simulate SEEDS=5000":                                 long(target),
	"make bench BENCH=-quick":                                       long(target),
	"make bench-peers BENCH=-quick":                                 long(target),
	"make profile BENCH=-quick":                                     long(target),
	"make readme":                                                   target, // which this is
	"make test-all":                                                 long(target),
	"make lint":                                                     long(target),
	"make paths":                                                    target, // these seven take four hours together
	"make cover":                                                    target,
	"make halts":                                                    target,
	"make versions":                                                 target,
	"make soak-mistakes":                                            target,
	"make soak-faults":                                              target,
	"make soak-compare":                                             target,
	"make soak-simulate":                                            target,
	"make fuzz":                                                     target,
	"make newest":                                                   target,
	"make vulnerabilities":                                          target,
	"make mutants":                                                  target,
	"make bench":                                                    target,
	"make bench-peers":                                              target,
	"make screenshots":                                              target, // it writes into the repository
}

// everything reports whether commands that take minutes are carried out: make readme says so.
func everything() bool { return os.Getenv("TURNSTILE_README") == "all" }

// long carries a command out that takes minutes, or else says what can be said of it in less.
func long(short check) check {
	return func(t *testing.T, p *place, command string) {
		if !everything() {
			short(t, p, command)
			return
		}
		t.Run(command, func(t *testing.T) { // one that fails does not end the others, which take an hour
			patient := *p
			patient.limit, patient.env = time.Hour, append(p.env[:len(p.env):len(p.env)], "GOPROXY="+goEnv(t, "GOPROXY")) // lint asks
			output := patient.run(t, command)
			t.Logf("%s ends with\n%s", command, output[max(0, len(output)-500):])
		})
	}
}

// leavesAsItWas carries a command out that writes what is there already.
func leavesAsItWas(t *testing.T, p *place, command string) {
	p.run(t, command)
	p.run(t, "git diff --exit-code")
}

// TestEveryCommandIsKnown: also one that was written this minute, and is not committed yet.
func TestEveryCommandIsKnown(t *testing.T) {
	written := make(map[string]bool)
	for _, p := range readPages(t, root) {
		for _, command := range p.commands() {
			written[command] = true
			if commands[command] == nil {
				t.Errorf("%s has a command that no test knows: %s", p.name, command)
			}
		}
	}
	for command := range commands {
		if !written[command] {
			t.Errorf("no page has a command any more that a test knows: %s", command)
		}
	}
}

// TestRealCommands carries all of them out, page by page, in their order.
func TestRealCommands(t *testing.T) {
	p := newPlace(t)
	done := make(map[string]bool)
	for _, page := range readPages(t, p.folder) {
		for _, command := range page.commands() {
			if done[command] || commands[command] == nil { // that is the other test's
				continue
			}
			done[command] = true
			begin := time.Now()
			commands[command](t, p, command)
			t.Logf("%5.1f s  %s", time.Since(begin).Seconds(), command)
		}
	}
}

// prints carries a command out, which is to succeed and to print what fits a regular expression.
func prints(pattern string) check {
	return func(t *testing.T, p *place, command string) {
		require.Regexp(t, pattern, p.run(t, command), command)
	}
}

// goesOn starts a command that goes on until the test ends, and waits for the text that it prints when it is ready.
func goesOn(text string) check {
	return func(t *testing.T, p *place, command string) { p.leave(t, command, text) }
}

// exports sets a variable for the commands that follow.
func exports(t *testing.T, p *place, command string) {
	setting, found := strings.CutPrefix(p.here(command), "export ")
	require.True(t, found, command)
	p.env = append(p.env, setting)
}

// serves starts a program that serves HTTP, at the address that it prints behind a text, looks for another text in what
// is there, and ends it.
func serves(before, text string) check {
	return func(t *testing.T, p *place, command string) {
		t.Run(before, func(t *testing.T) { // what it starts ends with it
			_, address, _ := strings.Cut(p.leave(t, command, before+"http://"), before)
			address, _, _ = strings.Cut(address, "\n")
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: scene.Bound}
			scene.Eventually(t, func() bool {
				response, err := client.Get(address)
				if err != nil {
					return false
				}
				defer response.Body.Close()
				body, err := io.ReadAll(response.Body)
				return err == nil && response.StatusCode == http.StatusOK && strings.Contains(string(body), text)
			}, "%s: no %s", address, text)
		})
	}
}

// ours is the module's path.
func ours(t *testing.T, p *place) string {
	return strings.TrimSpace(p.run(t, "go list -m"))
}

// known finds the package, the flags and the tests of a command of Go.
func known(t *testing.T, _ *place, command string) {
	require.Empty(t, wrongGo(t, typed(command)[1:]), command)
}

// hasFlagsOfZklock finds the flags of a command of zklock, before its two dashes, in its help.
func hasFlagsOfZklock(name string) check {
	return func(t *testing.T, p *place, command string) {
		help := p.run(t, "zklock help "+name)
		own, _, _ := strings.Cut(command, " -- ")
		for _, flag := range strings.Fields(own) {
			if strings.HasPrefix(flag, "--") {
				require.Contains(t, help, " "+flag+" ", command)
			}
		}
	}
}

// builds compiles a program that takes long to run.
func builds(t *testing.T, p *place, command string) {
	p.run(t, strings.Replace(command, "go run", "go build -o /dev/null", 1))
}

// saysWhat has go generate say what it would run.
func saysWhat(t *testing.T, p *place, command string) {
	require.NotEmpty(t, p.run(t, strings.Replace(command, "go generate ", "go generate -n ", 1)), command)
}

// target has make say what it would do.
func target(t *testing.T, p *place, command string) {
	require.NotEmpty(t, p.run(t, strings.Replace(command, "make ", "make -n ", 1)), command)
}
