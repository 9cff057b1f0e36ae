package locks

import (
	"context"
	"fmt"
	"sync"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
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
	// Value is the leader's value of Campaign; empty for another library's leader, and for a moment
	// after another library's request to resign, which overwrites the node.
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
	return &Leadership{lease, value}, nil
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

// Observe tells who leads, at once and whenever it changes, until ctx ends, the client is closed,
// or the lock path may not be read; then the channel is closed. A Leader without a Token means that
// nobody leads. A slow receiver gets the newest, and may miss short terms. Nothing is told while
// the connection is down. Errors wrap the error of ctx, zkconn.ErrBadPath, ErrClosed, or
// ErrNeedsSession over a gateway.
func (e *Election) Observe(ctx context.Context) (<-chan Leader, error) {
	return follow(ctx, e.client, "observe", messages.Follow{Path: e.want.Path}, e.leads, func(leader Leader) any {
		return termOf{leader.Contender.Node, leader.Token}
	})
}

// termOf tells terms apart: all contests of a path have one node's name, and tokens of nodes that
// were made in one transaction may look the same from outside.
type termOf struct {
	node  string
	token messages.Token
}

// Leadership is a term of office: a lease.
type Leadership struct {
	*Lease
	value string
}

// Value is the value of the campaign.
func (l *Leadership) Value() string { return l.value }

// Resign ends the term, and the next in the queue leads. It returns the errors of Lease.Unlock.
func (l *Leadership) Resign(ctx context.Context) error { return l.Unlock(ctx) }
