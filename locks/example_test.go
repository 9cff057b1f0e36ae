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
	client, err := locks.Open(ctx, "zk1:2181,zk2:2181,zk3:2181/app", locks.WithSessionTimeout(10*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)

	lease, err := client.Mutex("/orders/42", locks.WithLabel("billing")).TryLock(ctx)
	if errors.Is(err, locks.ErrNotAcquired) {
		fmt.Println("somebody else is at it")
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lease.Unlock(context.WithoutCancel(ctx))
	fmt.Println("working with fencing token", lease.Token())
}
