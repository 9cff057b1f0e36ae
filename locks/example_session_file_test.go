package locks_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A worker that is started again after a crash does not wait for the session timeout of the process
// that crashed. Every worker of the host has a file of its own; two workers with the same file by
// mistake get an error.
func ExampleWithSessionFile() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := embedded.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	folder, err := os.MkdirTemp("", "worker") // as a service: its state directory, such as /var/lib/worker
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "worker-1.session")

	client, err := locks.Open(ctx, server.Addr(), locks.WithSessionTimeout(30*time.Second), locks.WithSessionFile(file))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = locks.Open(ctx, server.Addr(), locks.WithSessionFile(file))
	fmt.Println("used by one that lives:", errors.Is(err, locks.ErrSessionFileInUse))

	info, err := os.Stat(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(info.Mode(), "and not empty:", info.Size() > 0)
	if err := client.Close(ctx); err != nil {
		fmt.Println(err)
	}
	if info, err = os.Stat(file); err == nil {
		fmt.Println("after an orderly end, bytes:", info.Size())
	}
	// Output:
	// used by one that lives: true
	// -rw------- and not empty: true
	// after an orderly end, bytes: 0
}
