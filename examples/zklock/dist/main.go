// Command dist packs zklock for people who install tools: an archive for each system, with the program, its manual page
// and completion for shells, and the checksums of all.
//
//	go run ./examples/zklock/dist -version v0.1.0 -out /tmp/turnstile-dist
//
// The same source, Go and version give the same bytes: an archive depends on neither the machine,
// nor the folder, nor the hour. All files have the time of -time. make dist gives the time of the
// commit.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// program is the package that is built, and what it is called.
const (
	program = "github.com/turnstile-locks/turnstile/examples/zklock"
	name    = "zklock"
)

// platforms are the systems that are built for unless -platforms says otherwise.
const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "dist:", err)
		}
		os.Exit(1)
	}
}

// release is a version that is packed.
type release struct {
	version string
	time    time.Time
	out     string
	root    string            // of the repository
	shared  map[string][]byte // what every archive has, by its name there
}

// plain matches the characters of a version: it becomes a part of file names and of the linker's flags.
var plain = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+-]*$`)

func run(ctx context.Context, args []string, says io.Writer) error {
	flags := flag.NewFlagSet("dist", flag.ContinueOnError)
	version := flags.String("version", "", "the `version` that the program says it is")
	out := flags.String("out", "", "the `folder` for the archives")
	seconds := flags.Int64("time", 0, "the time of the files, in `seconds` since 1970")
	wanted := flags.String("platforms", platforms, "systems and processors, separated by commas")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !plain.MatchString(*version) || *out == "" {
		return errors.New("-version v1.2.3 and -out FOLDER are needed")
	}
	root, err := output(ctx, "", nil, "go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return err
	}
	r := &release{version: *version, time: time.Unix(*seconds, 0).UTC(), out: *out, root: strings.TrimSpace(string(root))}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if err := r.gather(ctx); err != nil {
		return err
	}
	var sums strings.Builder
	for platform := range strings.SplitSeq(*wanted, ",") {
		goos, goarch, ok := strings.Cut(platform, "/")
		if !ok {
			return fmt.Errorf("-platforms: %q is not of the form linux/amd64", platform)
		}
		archive, err := r.pack(ctx, goos, goarch)
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		line := fmt.Sprintf("%x  %s\n", sha256.Sum256(archive.packed), archive.name)
		sums.WriteString(line)
		fmt.Fprintf(says, "%s  %.1f MB, the program %.1f MB\n", archive.name, megabytes(len(archive.packed)), megabytes(archive.program))
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

func megabytes(bytes int) float64 { return float64(bytes) / 1e6 }

// gather collects what is the same for all systems: the licence, the page, and what the program of this machine prints.
func (r *release) gather(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "zklock-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	here := filepath.Join(folder, name)
	if err := r.build(ctx, runtime.GOOS, runtime.GOARCH, here); err != nil {
		return err
	}
	r.shared = map[string][]byte{}
	for as, args := range map[string][]string{
		"man/zklock.1":            {"man"},
		"completions/zklock.bash": {"completion", "bash"},
		"completions/_zklock":     {"completion", "zsh"},
		"completions/zklock.fish": {"completion", "fish"},
		"completions/zklock.ps1":  {"completion", "powershell"},
	} {
		if r.shared[as], err = output(ctx, "", nil, here, args...); err != nil {
			return err
		}
	}
	for as, from := range map[string]string{"LICENSE": "LICENSE", "README.md": "examples/zklock/README.md"} {
		if r.shared[as], err = os.ReadFile(filepath.Join(r.root, from)); err != nil {
			return err
		}
	}
	return nil
}

// build compiles the program. Without -trimpath it would have the folder's name in it, and with the version control's
// stamp the state of the working tree. It has no tables for debuggers, which are a third of it.
func (r *release) build(ctx context.Context, goos, goarch, to string) error {
	_, err := output(ctx, r.root, []string{"CGO_ENABLED=0", "GOFLAGS=", "GOOS=" + goos, "GOARCH=" + goarch,
		"GOAMD64=", "GOARM64=", "GOEXPERIMENT="},
		"go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid= -X main.released="+r.version, "-o", to, program)
	return err
}

// output runs a command and gives what it prints.
func output(ctx context.Context, folder string, env []string, command string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	printed, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, cmp.Or(strings.TrimSpace(string(exit.Stderr)), "it says nothing"))
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", command, strings.Join(args, " "), err)
	}
	return printed, nil
}
