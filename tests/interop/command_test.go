package interop

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/child"
)

// command runs a worker for one job, which is its arguments, and returns what it says of the outcome.
func command(t *testing.T, line []string, job Job) (string, error) {
	line = append(line, job.Arguments()...)
	cmd := exec.CommandContext(deadline(t), line[0], line[1:]...)
	var output bytes.Buffer
	var logged child.Tail
	cmd.Stdout, cmd.Stderr = &output, &logged
	err := child.Run(cmd)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("output of %s:\n%s", job.Name, logged.String())
		}
	})
	return output.String(), err
}

// Processes of their own compete with the shared workers' sessions.
func TestOneJobFromTheCommandLine(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for _, client := range []struct {
			name   string
			line   func() ([]string, error)
			shared *sharedWorker
		}{
			{"curator", curatorCommand, curator},
			{"kazoo", kazooCommand, kazooed},
		} {
			t.Run(client.name, func(t *testing.T) {
				witness := StartWitness(t)
				line, err := client.line()
				require.NoError(t, err)
				job := contest(Mutex, 0)
				job.Name, job.Connect, job.Path = "shared", s.addr, "/command/"+client.name
				job.Witness = witness.Addr()
				other := start(t, client.shared.Get(t), job)
				job.Name = "own"
				output, err := command(t, line, job)
				require.NoError(t, err, output)
				require.Regexp(t, `^done acquired=36 timed_out=0 elapsed_us=\d+\n$`, output)
				other.wait(t)
				s.requireEmpty(t, job.Path)
			})
		}
	})
}

func TestAFailedJobFailsTheCommand(t *testing.T) {
	Require(t)
	for name, line := range map[string]func() ([]string, error){
		"curator": curatorCommand, "kazoo": kazooCommand,
	} {
		t.Run(name, func(t *testing.T) {
			line, err := line()
			require.NoError(t, err)
			output, err := command(t, line, Job{Task: "juggling", Recipe: Mutex, Connect: "-", Path: "/x"})
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit)
			require.Equal(t, 1, exit.ExitCode(), output)
			require.Contains(t, output, "no task is named juggling")
		})
	}
}
