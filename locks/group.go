package locks

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// Group tells which processes are there: its members. Each is an ephemeral node below the group's
// path, as in Curator's GroupMember and kazoo's Party. It is a reader of an RWMutex at that path,
// whose writer waits until all members have gone, and later members for it.
type Group struct{ lock }

// Group gives the group at a path. A bad path is refused by Join.
func (c *Client) Group(path string) *Group {
	return &Group{newLock(forLocking, c, messages.Acquire{Path: path, Mode: messages.Read}, []LockOption{})}
}

// Member is one member of a group.
type Member struct {
	// ID is the name of its node: a new one each time that it joins.
	ID string
	// Data is its data of Join. It is empty where an operator has written to the node.
	Data string
	// Host and PID are its machine and process; Since is when it joined, by its clock.
	Host    string
	PID     int
	Session int64
	Since   time.Time
}

// Membership is one member of this process in a group, from Join to Leave.
type Membership struct {
	stop     context.CancelFunc
	over     chan struct{}
	lease    chan *Lease     // holds the newest
	requests *sync.WaitGroup // that have not ended; none begins once over is closed
	err      error           // why it could not join again; set before over is closed
}

// Join joins with data of at most 1024 bytes, such as an address, and returns when others see it.
// When the session expires it joins again in the next, under another ID, until Leave, or until that
// fails for good (Done). Errors are those of RWMutex.RLock.
func (g *Group) Join(ctx context.Context, data string) (*Membership, error) {
	l := g.lock
	l.want.Label, l.requests = data, new(sync.WaitGroup)
	l.prepare()
	lease, err := l.acquire(ctx)
	if err != nil {
		return nil, err
	}
	stays, stop := context.WithCancel(context.WithoutCancel(ctx))
	m := &Membership{stop: stop, over: make(chan struct{}), lease: make(chan *Lease, 1), requests: l.requests}
	m.lease <- lease
	go m.keep(stays, l, lease)
	return m, nil
}

func (m *Membership) keep(ctx context.Context, l lock, lease *Lease) {
	defer close(m.over)
	for {
		select {
		case <-ctx.Done():
			lease.Release()
			return
		case <-lease.Context().Done():
		}
		again, err := l.acquire(ctx) // it waits for the next session
		switch {
		case err == nil:
			lease = again
			<-m.lease
			m.lease <- lease
		case ctx.Err() != nil:
			return
		case !MayPass(err):
			m.err = err
			return
		default:
			select {
			case <-time.After(retry.Campaign.First):
			case <-ctx.Done():
			}
		}
	}
}

// ID gives our member's ID. It changes when the session has expired.
func (m *Membership) ID() string {
	lease := <-m.lease
	m.lease <- lease
	return lease.Node()
}

// Done gives a channel that is closed when our member goes for good: after Leave, or when joining
// again failed with an error that may not pass (MayPass). Err says which.
func (m *Membership) Done() <-chan struct{} { return m.over }

// Err says, once Done is closed, why it could not join again, such as ErrClosed; nil after Leave.
func (m *Membership) Err() error {
	select {
	case <-m.over:
		return m.err
	default:
		return nil
	}
}

// Leave returns when our member is known to be gone. Where our session has expired, it first waits
// until it is known whether we have joined again, or ctx ends. It returns the errors of
// Lease.Unlock, or Err.
func (m *Membership) Leave(ctx context.Context) error {
	m.stop()
	<-m.over
	lease := <-m.lease
	m.lease <- lease
	err := lease.Unlock(ctx)
	if errors.Is(err, ErrLost) && !errors.Is(err, ErrClosed) { // gone with its session
		return m.leaveNext(ctx, lease)
	}
	return err
}

func (m *Membership) leaveNext(ctx context.Context, lease *Lease) error {
	gone := make(chan struct{})
	go func() {
		m.requests.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return m.err
	case <-ctx.Done():
		return &Error{Op: "leave", Path: lease.Path(), State: messages.StateReleasing, Err: ended(ctx)}
	}
}

// Members lists the members in the order in which they came. It returns the errors of Client.Queue.
func (g *Group) Members(ctx context.Context) ([]Member, error) {
	queue, err := g.client.Queue(ctx, g.want.Path)
	if err != nil {
		return nil, err
	}
	return membersOf(&messages.Queue{Contenders: queue}), nil
}

// Watch tells who is in the group, at once and whenever it changes, until ctx ends or the client is
// closed; then the channel is closed. A slow receiver gets the newest. Nothing is told while the
// connection is down. Each watcher reads all members at every change. Errors are those of
// Election.Observe.
func (g *Group) Watch(ctx context.Context) (<-chan []Member, error) {
	return follow(ctx, g.client, "watch group", messages.Follow{Path: g.want.Path}, membersOf, func(members []Member) any {
		ids := make([]string, len(members))
		for i, m := range members {
			ids[i] = m.ID
		}
		return strings.Join(ids, "/")
	})
}

func membersOf(q *messages.Queue) []Member {
	members := []Member{}
	for _, c := range q.Contenders {
		if c.Holds && c.Mode == messages.Read {
			members = append(members, Member{ID: c.Node, Data: c.Label, Host: c.Host, PID: c.PID, Session: c.Session,
				Since: c.Since})
		}
	}
	return members
}
