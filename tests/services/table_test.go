package services

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shown is a combination that has no cell here.
type shown struct {
	by  []string // the tests elsewhere that show it
	why string   // it makes no sense, where none does
}

// elsewhereShown are the combinations that have no cell here.
var elsewhereShown = map[Ability]map[Fault]shown{
	Txn: {
		lostReply: {by: []string{"TestReplyToTxnIsLost", "TestReplyToTxnIsLostWithTheSession", "TestReplyToTxnWithParentsIsLost"}},
	},
	Once: {
		expiry:    {by: []string{"TestRunOnceFaults"}},
		cut:       {by: []string{"TestRunOnceFaults"}},
		silence:   {by: []string{"TestRunOnceFaults"}},
		pause:     {by: []string{"TestRunOncePaused"}},
		kill:      {by: []string{"TestRunOnceKilled"}},
		lostReply: {by: []string{"TestRunOnceFaults"}},
	},
	Reclaim: {
		expiry:    {by: []string{"TestNotReclaimed"}},
		cut:       {by: []string{"TestTakeOverLosesMessages"}},
		silence:   {by: []string{"TestOneWaitForAll", "TestServersAreDownAtTheRestart"}},
		pause:     {by: []string{"TestSessionFileOfALivingProcessIsRefused"}},
		kill:      {by: []string{"TestReclaim", "TestRestartsDoNotProlong"}},
		lostReply: {by: []string{"TestTakeOverLosesMessages"}},
	},
}

// TestEachAbilityMeetsEachFault, here or elsewhere, and once; and the tests that are named exist.
func TestEachAbilityMeetsEachFault(t *testing.T) {
	here := map[Ability]map[Fault]int{Group: {}}
	for _, c := range cells {
		if here[c.ability] == nil {
			here[c.ability] = map[Fault]int{}
		}
		here[c.ability][c.fault]++
	}
	for _, c := range groupCells {
		here[Group][c.fault]++
	}
	exist := testsBelow(t, "..", filepath.Join("..", "..", "zkconn"))
	for _, a := range abilities {
		for _, f := range faults {
			there, named := elsewhereShown[a][f]
			switch {
			case here[a][f] > 1 || here[a][f] == 1 && named:
				t.Errorf("%s under %s is shown twice", a, f)
			case here[a][f] == 1:
			case len(there.by) == 0 && there.why == "":
				t.Errorf("%s under %s is shown nowhere", a, f)
			}
			for _, test := range there.by {
				require.Contains(t, exist, test, "%s under %s", a, f)
			}
		}
	}
}

// testsBelow gives the names of all tests in some folders.
func testsBelow(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	tests, name := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	for _, folder := range folders {
		require.NoError(t, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, found := range name.FindAllStringSubmatch(string(text), -1) {
				tests[found[1]] = true
			}
			return err
		}))
	}
	return tests
}
