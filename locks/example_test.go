package locks_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

func Example() {
	ctx := context.Background()
	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	client, err := locks.Open(opening, "zk1:2181,zk2:2181,zk3:2181/app", locks.WithSessionTimeout(10*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)

	mutex := client.Mutex("/orders/42", locks.WithLabel("billing"))
	err = locks.Do(ctx, locks.Try(mutex), func(ctx context.Context, token locks.Token) error {
		fmt.Println("working with fencing token", token) // until ctx ends, which it does when the lock is lost
		return nil
	})
	if errors.Is(err, locks.ErrNotAcquired) {
		fmt.Println("somebody else is at it")
	}
}
