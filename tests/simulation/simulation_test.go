//go:debug randseednop=0

package simulation

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

var (
	seedFlag    = flag.Int64("seed", -1, "try this seed only, and tell its story")
	actionsFlag = flag.String("actions", "", "with -seed: only these of its actions, by their places, like 3,17,18")
	firstFlag   = flag.Uint64("first", 0, "the first of the seeds")
)

// TestMain makes the scheduler as predictable as it gets, and the GUIDs.
func TestMain(m *testing.M) {
	flag.Parse()
	runtime.GOMAXPROCS(1)
	uuid.SetRand(&guids)
	os.Exit(m.Run())
}

// seeds is the number of seeds that TestSimulation tries.
func seeds(t *testing.T) uint64 {
	text := os.Getenv("TURNSTILE_SIMULATION_SEEDS")
	switch {
	case text == "" && underRace:
		return 100 // `make test` tries the others without the race detector, which makes them seven times as slow
	case text == "":
		return 200
	}
	n, err := strconv.ParseUint(text, 10, 32)
	require.NoError(t, err, "TURNSTILE_SIMULATION_SEEDS=%q", text)
	return n
}

func TestSimulation(t *testing.T) {
	if *seedFlag >= 0 {
		tell(t, uint64(*seedFlag))
		return
	}
	number, of, none := shard(t)
	if none {
		inShards(t, *firstFlag, seeds(t))
		return
	}
	grants := 0
	for seed := *firstFlag + number; seed < *firstFlag+seeds(t); seed += of {
		p := newPlan(seed)
		fmt.Println("seed", seed) // a panic leaves no other trace of it
		result := run(t, p)
		if result.violation != "" {
			explain(t, p, result)
		}
		grants += result.grants
	}
	require.NotZero(t, grants)
}

// tell tries one seed and prints its history, also when it passes.
func tell(t *testing.T, seed uint64) {
	t.Helper()
	p := newPlan(seed)
	if *actionsFlag != "" {
		var places []int
		for text := range strings.SplitSeq(*actionsFlag, ",") {
			place, err := strconv.Atoi(text)
			require.NoError(t, err, "-actions %q", *actionsFlag)
			places = append(places, place)
		}
		p = p.only(places)
	}
	result := run(t, p)
	t.Logf("%v\n%s", p, strings.Join(result.story, "\n"))
	require.Empty(t, result.violation)
}

// explain fails the test for a plan that fails, with as short a story as there is.
func explain(t *testing.T, p plan, result outcome) {
	t.Helper()
	places := shrink(t, p, result.violation)
	short := p.only(places)
	again := run(t, short)
	t.Fatalf("seed %d: %s\nagain: go test ./tests/simulation -run TestSimulation -v -seed %d\nshorter: -actions %s: %s\n%v\n%s",
		p.seed, result.violation, p.seed, strings.ReplaceAll(strings.Trim(fmt.Sprint(places), "[]"), " ", ","),
		again.violation, short, strings.Join(again.story, "\n"))
}

// A seed gives the same history again; the package's documentation says what may still differ.
func TestReplay(t *testing.T) {
	first, same, replayed, differ := *firstFlag, uint64(0), uint64(20), uint64(6)
	if underRace { // where nine in ten give the same; of the first ten three have answers that say the same at one instant
		first, replayed, differ = first+60, 10, 4
	}
	for seed := first; seed < first+replayed; seed++ {
		p := newPlan(seed)
		one, other := run(t, p), run(t, p)
		if diff := difference(one.story, other.story); diff != "" {
			t.Logf("seed %d:\n%s", seed, diff)
		} else {
			same++
		}
	}
	t.Logf("%d of %d seeds gave the same history twice", same, replayed)
	require.GreaterOrEqual(t, same+differ, replayed)
}
