package main

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOptions(t *testing.T) {
	o, err := parse(nil, io.Discard)
	require.NoError(t, err)
	require.Equal(t, 5, o.rounds)
	require.Equal(t, time.Second, o.span)
	o, err = parse([]string{"-quick", "-span", "2s", "-workload", "one,pair"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, quickRounds, o.rounds)
	require.Equal(t, 2*time.Second, o.span)
	require.Equal(t, []string{"one", "pair"}, o.workloads)
	for _, wrong := range [][]string{{"-workload", "two"}, {"-rounds", "0"}, {"-span", "0s"}, {"-warm", "-1s"}, {"one"}, {"-no"}} {
		_, err := parse(wrong, io.Discard)
		require.Error(t, err, "%v", wrong)
	}
}
