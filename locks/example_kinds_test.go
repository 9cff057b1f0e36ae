package locks_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

func ExampleClient_RWMutex() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		prices := client.RWMutex("/prices")
		one, err := prices.RLock(ctx)
		if err != nil {
			return err
		}
		two, err := prices.RLock(ctx)
		if err != nil {
			return err
		}
		_, err = prices.TryLock(ctx)
		fmt.Println("two read; to write:", errors.Is(err, locks.ErrNotAcquired))
		if err := errors.Join(one.Unlock(ctx), two.Unlock(ctx)); err != nil {
			return err
		}
		writer, err := prices.Lock(ctx)
		if err != nil {
			return err
		}
		fmt.Println("one writes:", writer.Valid())
		return writer.Unlock(ctx)
	})
	// Output:
	// two read; to write: true
	// one writes: true
}

func ExampleLease_Downgrade() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		writer, err := client.RWMutex("/prices").Lock(ctx)
		if err != nil {
			return err
		}
		// Write, and then let others read what was written, while nobody can write something else.
		reader, err := writer.Downgrade(ctx)
		if err != nil {
			return err
		}
		other, err := client.RWMutex("/prices").TryRLock(ctx)
		if err != nil {
			return err
		}
		fmt.Println("same token:", reader.Token() == writer.Token(), "- others read:", other.Valid())
		return errors.Join(reader.Unlock(ctx), other.Unlock(ctx))
	})
	// Output: same token: true - others read: true
}

func ExampleClient_Semaphore() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		printers := client.Semaphore("/printers", 3)
		lease, err := printers.Acquire(ctx, 2)
		if err != nil {
			return err
		}
		_, err = printers.TryAcquire(ctx, 2)
		fmt.Println("two more:", errors.Is(err, locks.ErrNotAcquired))
		third, err := printers.TryAcquire(ctx, 1)
		if err != nil {
			return err
		}
		_, err = client.Semaphore("/printers", 5).Acquire(ctx, 4) // of three
		var why *locks.Error
		fmt.Println("four of them:", errors.Is(err, locks.ErrPermits) && errors.As(err, &why), "- there are", why.Permits)
		return errors.Join(lease.Unlock(ctx), third.Unlock(ctx))
	})
	// Output:
	// two more: true
	// four of them: true - there are 3
}

func ExampleClient_SetPermits() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		one, err := client.Semaphore("/printers", 1).Acquire(ctx, 1)
		if err != nil {
			return err
		}
		if err := client.SetPermits(ctx, "/printers", 2); err != nil { // a printer was bought
			return err
		}
		permits, err := client.Permits(ctx, "/printers")
		if err != nil {
			return err
		}
		two, err := client.Semaphore("/printers", 1).TryAcquire(ctx, 1) // the number at the path counts
		if err != nil {
			return err
		}
		fmt.Println("both print:", one.Valid() && two.Valid(), "- printers:", permits)
		return errors.Join(one.Unlock(ctx), two.Unlock(ctx))
	})
	// Output: both print: true - printers: 2
}

func ExampleClient_Contest() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		lease, err := client.Contest("/master").Lock(ctx)
		if err != nil {
			return err
		}
		_, err = client.Contest("/master").TryLock(ctx)
		fmt.Println("the node is", lease.Node(), "and there is one:", errors.Is(err, locks.ErrNotAcquired))
		return lease.Unlock(ctx)
	})
	// Output: the node is master and there is one: true
}

func ExampleAll() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		from, to := client.Mutex("/accounts/7"), client.Mutex("/accounts/3")
		leases, err := locks.All(ctx, from, to, client.Semaphore("/transfers", 10).Weight(1))
		if err != nil {
			return err
		}
		for _, lease := range leases.Each() {
			fmt.Println(lease.Path())
		}
		return leases.Unlock(ctx)
	})
	// Output:
	// /accounts/3
	// /accounts/7
	// /transfers
}

func ExampleWithReentry() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		order := client.Mutex("/orders/42", locks.WithReentry())
		bill := func(ctx context.Context) error { // it locks for itself, with any caller
			return locks.Do(ctx, order, func(context.Context, locks.Token) error {
				fmt.Println("billed")
				return nil
			})
		}
		return locks.Do(ctx, order, func(ctx context.Context, _ locks.Token) error {
			_, err := client.Mutex("/orders/42").Lock(ctx)
			fmt.Println("without the option:", errors.Is(err, locks.ErrReentry))
			return bill(ctx) // within the lease
		})
	})
	// Output:
	// without the option: true
	// billed
}

func ExampleWithName() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		orders, err := client.Mutex("/shop", locks.WithName("orders")).TryLock(ctx)
		if err != nil {
			return err
		}
		bills, err := client.Mutex("/shop", locks.WithName("bills")).TryLock(ctx)
		if err != nil {
			return err
		}
		for _, lease := range []*locks.Lease{orders, bills} {
			fmt.Println(lease.Path(), lease.Node()[len("_c_00000000-0000-0000-0000-000000000000-"):])
		}
		return errors.Join(orders.Unlock(ctx), bills.Unlock(ctx))
	})
	// Output:
	// /shop orders_lock_0000000000
	// /shop bills_lock_0000000001
}

func ExampleWithNaming() {
	onServer(func(ctx context.Context, client *locks.Client) error {
		lease, err := client.Mutex("/shared", locks.WithNaming(messages.KazooNaming)).Lock(ctx)
		if err != nil {
			return err
		}
		_, rest, _ := strings.Cut(lease.Node(), "__")
		fmt.Println("as kazoo has it: __" + rest)
		_, err = client.Mutex("/shared").TryLock(ctx) // under Curator's names
		fmt.Println("one queue:", errors.Is(err, locks.ErrNotAcquired))
		return lease.Unlock(ctx)
	})
	// Output:
	// as kazoo has it: __lock__0000000000
	// one queue: true
}
