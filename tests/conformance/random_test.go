package conformance

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// randomFile has random sequences with their answers, written as those of the other files. It has the operations,
// too, so that it stays right when the generator draws others.
const randomFile = "testdata/random.txt.gz"

// recordedSequences is how many sequences are drawn when the file is written anew, each from its number.
const recordedSequences = 40

// randomly holds a server to the answers to random sequences.
func randomly(t *testing.T, s server) {
	if rewriting() {
		recordRandom(t, s)
		return
	}
	file, err := os.Open(randomFile)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	plain, err := gzip.NewReader(file)
	require.NoError(t, err)
	all, err := io.ReadAll(plain)
	require.NoError(t, err)
	datadriven.RunTestFromString(t, string(all), answerer(s))
}

func recordRandom(t *testing.T, s server) {
	var out bytes.Buffer
	packed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	require.NoError(t, err)
	for seed := range recordedSequences {
		asked := strings.TrimSpace(render(sequences.Example(seed)))
		heard := answerer(s)(t, &datadriven.TestData{Cmd: "play", Input: asked})
		_, err := fmt.Fprintf(packed, "# %d\nplay\n%s\n----\n%s\n", seed, asked, heard)
		require.NoError(t, err)
	}
	require.NoError(t, packed.Close())
	require.NoError(t, os.WriteFile(randomFile, out.Bytes(), 0o644))
}
