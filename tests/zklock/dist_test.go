package zklock

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDist packs zklock for this system, twice. Both have the same bytes and the checksum that stands beside them; the
// program in it says its version, and the manual page, the completion and the licence are there.
func TestDist(t *testing.T) {
	t.Parallel()
	platform := runtime.GOOS + "/" + runtime.GOARCH
	var packed [2][]byte
	for i := range packed {
		out := t.TempDir()
		cmd := exec.Command("go", "run", "./examples/zklock/dist", "-version", "v9.8.7", "-out", out, "-time", "1790000000",
			"-platforms", platform)
		cmd.Dir = filepath.Join("..", "..")
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", output)
		name := "zklock_v9.8.7_" + strings.ReplaceAll(platform, "/", "_") + ".tar.gz"
		packed[i] = []byte(read(t, filepath.Join(out, name)))
		require.Equal(t, fmt.Sprintf("%x  %s\n", sha256.Sum256(packed[i]), name), read(t, filepath.Join(out, "SHA256SUMS")))
	}
	require.True(t, bytes.Equal(packed[0], packed[1]), "the same source, but not the same bytes")

	files := unpack(t, packed[0])
	binary := filepath.Join(t.TempDir(), "zklock")
	require.NoError(t, os.WriteFile(binary, files["zklock"], 0o700))
	said, err := exec.Command(binary, "--version").Output()
	require.NoError(t, err)
	require.Equal(t, "zklock version v9.8.7\n", string(said))
	require.Contains(t, string(files["man/zklock.1"]), `"zklock v9.8.7"`)
	require.Contains(t, string(files["LICENSE"]), "Apache License")
	require.Contains(t, string(files["README.md"]), "# zklock")
	for name, text := range map[string]string{"zklock.bash": "complete -o default -F __start_zklock zklock",
		"_zklock": "#compdef zklock", "zklock.fish": "complete -c zklock", "zklock.ps1": "Register-ArgumentCompleter"} {
		require.Contains(t, string(files["completions/"+name]), text, name)
	}
}

// unpack is the files of an archive, by their names below its one folder.
func unpack(t *testing.T, packed []byte) map[string][]byte {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	archive := tar.NewReader(zipped)
	files := map[string][]byte{}
	for {
		header, err := archive.Next()
		if err == io.EOF {
			return files
		}
		require.NoError(t, err)
		require.Equal(t, int64(1790000000), header.ModTime.Unix(), header.Name)
		_, name, _ := strings.Cut(header.Name, "/")
		require.Equal(t, name == "zklock", header.Mode == 0o755, "%s has mode %o", name, header.Mode)
		files[name], err = io.ReadAll(archive)
		require.NoError(t, err)
	}
}

// TestManual: the page has every command and every flag of the help, with its text, and nothing
// that roff would read differently.
func TestManual(t *testing.T) {
	t.Parallel()
	page, _ := says(t, place{}, 0, "man")
	known := regexp.MustCompile(`^\.(TH|SH|SS|PP|TP|br|nf|fi)( |$)`)
	for line := range strings.SplitSeq(page, "\n") {
		if strings.HasPrefix(line, ".") {
			require.Regexp(t, known, line)
		}
		require.NotRegexp(t, `^'`, line)
	}
	plain := strings.Join(strings.Fields(strings.NewReplacer(`\-`, "-", `\e`, `\`, `\&`, "", `\fB`, "", `\fR`, "", `\fI`, "").
		Replace(page)), " ")
	flag := regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[\w-]+)`)
	seen := 0
	for _, name := range append(named, "man") {
		help, _ := says(t, place{}, 0, "help "+name)
		about, rest, _ := strings.Cut(help, "\nUsage:\n")
		for paragraph := range strings.SplitSeq(about, "\n\n") {
			paragraph = strings.ReplaceAll(strings.Join(strings.Fields(paragraph), " "), "…", "...")
			require.True(t, strings.Contains(plain, paragraph), "%s: the page does not say %q", name, paragraph)
		}
		_, flags, _ := strings.Cut(rest, "\nFlags:\n")
		for _, m := range flag.FindAllStringSubmatch(flags, -1) {
			if m[1] == "--help" || m[1] == "--version" {
				continue
			}
			seen++
			require.True(t, strings.Contains(plain, m[1]+" "), "%s: the page does not have %s", name, m[1])
		}
	}
	require.Greater(t, seen, 40)
	require.NotContains(t, plain, "zklock guard", "that one is for zklock itself")
}

// TestCompletionInBash completes a line as a person's shell does.
func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("bash")
	require.NoError(t, err)
	for typed, want := range map[string]string{"zklock qu": "queue", "zklock run --sha": "--shared", "zklock completion f": "fish"} {
		words := strings.Fields(typed)
		// Those functions are of the package bash-completion, of which the script needs only these two.
		script := `
_get_comp_words_by_ref() { cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" words=("${COMP_WORDS[@]}") cword=$COMP_CWORD; }
__ltrim_colon_completions() { :; }
source <(zklock completion bash)
COMP_WORDS=(` + typed + `) COMP_CWORD=` + fmt.Sprint(len(words)-1) + ` COMP_LINE="` + typed + `" COMP_POINT=` + fmt.Sprint(len(typed)) + ` COMP_TYPE=9
compopt() { :; }
__start_zklock
printf '%s\n' "${COMPREPLY[@]}"`
		cmd := exec.Command(shell, "--norc", "-c", script)
		cmd.Env = append(clean(), "PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", output)
		require.Equal(t, want, strings.TrimSpace(string(output)), typed)
	}
}
