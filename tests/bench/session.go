package main

import "context"

// session is one ZooKeeper session of a client library in this process, as its locks use it.
type session interface {
	// lock waits until the lock at a path is held, and gives what gives it back. One that cannot give up ignores
	// ctx, and returns when the session is closed.
	lock(ctx context.Context, path string) (unlock func(context.Context) error, err error)
	// close ends the session and waits until what it started has ended.
	close()
}

// opener opens a session with the servers of a connect string.
type opener func(ctx context.Context, connect string, timeout sessionTimeout) (session, error)

// openAll opens a session with each of the servers; after an error it closes the ones that are
// open.
func openAll(ctx context.Context, open opener, connects []string, timeout sessionTimeout) ([]session, error) {
	var opened []session
	for _, connect := range connects {
		s, err := open(ctx, connect, timeout)
		if err != nil {
			closeAll(opened)
			return nil, err
		}
		opened = append(opened, s)
	}
	return opened, nil
}

func closeAll(sessions []session) {
	for _, s := range sessions {
		s.close()
	}
}
