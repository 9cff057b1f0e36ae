package readme

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// weight matches what README.md states of the weight of a consumer's dependencies.
var weight = regexp.MustCompile(`links (\d+) modules\s+beside\s+ours,\s+no\s+gRPC,\s+and\s+is\s+(\d+)\s+MB` +
	`(?s:.{1,80}?)(\d+)\s+MB\s+otherwise`)

// TestRealWeight: what README.md says of a program that imports package locks is so, the megabytes within a seventh.
func TestRealWeight(t *testing.T) {
	stated := weight.FindStringSubmatch(readPages(t, root)[0].prose)
	require.NotNil(t, stated, "README.md does not say what a consumer pulls in")

	const main = "package main\n\nimport (\n\t\"context\"\n\n\t\"github.com/turnstile-locks/turnstile/locks\"\n)\n\n" +
		"func main() { _, _ = locks.Open(context.Background(), \"127.0.0.1:2181\") }\n"
	folder := t.TempDir()
	from, err := filepath.Abs(root)
	require.NoError(t, err)
	definition, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	own, rest, _ := strings.Cut(string(definition), "\n")
	ours := strings.TrimPrefix(own, "module ")
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	write("main.go", main)
	write("go.mod", fmt.Sprintf("module example.com/consumer\n%s\nrequire %s v0.0.0\n\nreplace %[2]s => %s\n", rest, ours, from))
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	write("go.sum", string(sums))

	run := func(args ...string) string {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = folder, append(os.Environ(), "GOFLAGS=-mod=mod "+shared, "GOWORK=off")
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", output)
		return string(output)
	}
	linked := map[string]bool{}
	for _, module := range strings.Fields(run("list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")) {
		linked[module] = true
	}
	delete(linked, "example.com/consumer")
	delete(linked, ours)
	require.False(t, linked["google.golang.org/grpc"])
	require.Equal(t, stated[1], strconv.Itoa(len(linked)), "modules that a program links: %v", linked)

	for at, args := range map[int][]string{2: {"-ldflags", "-s -w"}, 3: {"-ldflags", ""}} {
		run(append([]string{"build", "-o", "consumer"}, append(args, ".")...)...)
		info, err := os.Stat(filepath.Join(folder, "consumer"))
		require.NoError(t, err)
		megabytes, err := strconv.ParseFloat(stated[at], 64)
		require.NoError(t, err)
		t.Logf("%d modules, %.1f MB built with %v", len(linked), float64(info.Size())/1e6, args)
		require.InEpsilon(t, megabytes, float64(info.Size())/1e6, 0.15, "built with %v", args)
	}
}
