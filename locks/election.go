package locks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// Election chooses a leader among the candidates at a lock path: the holder leads. Any Mutex of any
// program at that path takes part.
type Election struct {
	lock
	terms *sync.Map // the *Leadership of each Run whose function runs
}

// Election gives the election at a path. A bad path is refused by Campaign.
func (c *Client) Election(path string, opts ...ElectionOption) *Election {
	return &Election{newLock(forElection, c, messages.Acquire{Path: path}, opts), new(sync.Map)}
}

// Leader describes the leader of an election.
type Leader struct {
	// Value is the leader's value of Campaign, or of Proclaim; empty for another library's leader,
	// and for a moment after another library's request to resign, which overwrites the node: then it is
	// that of Campaign again.
	Value string
	// Token is the fencing token of its term, never greater than that of a later term; zero when
	// nobody leads. See Contender.Token.
	Token messages.Token
	// Contender is all that the leader's node says.
	Contender messages.Contender
}

// Campaign waits until we lead, or ctx ends; Run is easier where a function leads. value, such as
// an address, at most 1024 bytes, is shown to all who ask for the leader, in place of WithLabel.
// Errors are those of Mutex.Lock.
func (e *Election) Campaign(ctx context.Context, value string) (*Leadership, error) {
	l := e.lock
	l.want.Label = value
	l.prepare()
	lease, err := l.acquire(ctx)
	if err != nil {
		return nil, err
	}
	return &Leadership{Lease: lease, value: value}, nil
}

// Leader gives the present leader. A leader that crashed is given until its session has expired: a
// process that was just started again may find its own value, of the run before, and does not lead
// (IsLeader, Contender.Session). Errors wrap ErrNoLeader, or are those of Client.Queue.
func (e *Election) Leader(ctx context.Context) (Leader, error) {
	contenders, err := e.client.Queue(ctx, e.want.Path)
	if err != nil {
		return Leader{}, err
	}
	if leader := e.leads(&messages.Queue{Contenders: contenders}); leader.Token != 0 {
		return leader, nil
	}
	return Leader{}, fmt.Errorf("turnstile: election at %s: %w", zkconn.Shown(e.want.Path), ErrNoLeader)
}

func (e *Election) leads(q *messages.Queue) Leader {
	for _, c := range q.Contenders {
		if c.Holds && c.Name == e.want.Name {
			return Leader{Value: c.Label, Token: c.Token, Contender: c}
		}
	}
	return Leader{}
}

// Observe tells who leads, at once and whenever that or the value changes, until ctx ends, the
// client is closed, or the lock path may not be read; then the channel is closed. A Leader without a
// Token means that nobody leads. A slow receiver gets the newest, and may miss short terms. Nothing is told while
// the connection is down. Errors wrap the error of ctx, zkconn.ErrBadPath, ErrClosed, or
// ErrNeedsSession over a gateway.
func (e *Election) Observe(ctx context.Context) (<-chan Leader, error) {
	return follow(ctx, e.client, "observe", messages.Follow{Path: e.want.Path}, e.leads, func(leader Leader) any {
		return termOf{leader.Contender.Node, leader.Token, leader.Value}
	})
}

// termOf tells terms apart: all contests of a path have one node's name, and tokens of nodes that
// were made in one transaction may look the same from outside.
type termOf struct {
	node  string
	token messages.Token
	value string
}

// Leadership is a term of office: a lease.
type Leadership struct {
	*Lease
	mu      sync.Mutex
	value   string
	version int32 // of the node that has it
}

// Value is the newest value that Proclaim has written, or else that of the campaign.
func (l *Leadership) Value() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.value
}

// Proclaim changes the value that others see of the leader (Leader, Observe) for the rest of the
// term: it is ready now, or drains. The next term of Run begins with Run's value.
//
// It writes in a transaction of the lease, so never after its end. The error wraps ErrBadAcquire for a
// value of more than 1024 bytes; ErrLost or ErrReleased: we lead no more, and nothing was written;
// that of ctx: it may have been written; ErrNeedsSession over a gateway; or another of Lease.Get and
// Lease.Txn.
func (l *Leadership) Proclaim(ctx context.Context, value string) error {
	if err := actors.CheckAcquire(messages.Acquire{Path: l.Path(), Label: value}); err != nil {
		return l.notWritten(err)
	}
	node := l.Path() + "/" + l.Node()
	for {
		data, version, err := l.Get(ctx, node)
		if err != nil {
			return err
		}
		owner, ours := queue.ParseOwner(data)
		if !ours { // another library has asked for the lead, and our session is about to write them again
			select {
			case <-time.After(retry.Unknown.First):
				continue
			case <-ctx.Done():
				return l.notWritten(ended(ctx))
			}
		}
		owner.Label = value
		done, err := l.Txn(ctx, Set(node, owner.Encode(), version))
		switch {
		case err == nil:
			l.shown(value, done[0].Version)
			return nil
		case !errors.Is(err, zkconn.ErrBadVersion) && (!errors.Is(err, ErrUnknownOutcome) || ctx.Err() != nil):
			return err
		}
	}
}

func (l *Leadership) shown(value string, version int32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if version > l.version { // one that ran at the same time may have come later
		l.value, l.version = value, version
	}
}

// Resign ends the term, and the next in the queue leads. It returns the errors of Lease.Unlock.
func (l *Leadership) Resign(ctx context.Context) error { return l.Unlock(ctx) }
