package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/cluster"
	provider "github.com/asynkron/protoactor-go/cluster/clusterproviders/zk"
	"github.com/asynkron/protoactor-go/cluster/identitylookup/disthash"
	"github.com/asynkron/protoactor-go/remote"
	"github.com/go-zookeeper/zk"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/activation"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/actors/gateway/grain"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// memberVariable makes the test binary a member of a cluster: it holds what to be.
const memberVariable = "TURNSTILE_CLUSTER_MEMBER"

// accounts is the kind of grains that are served under a lock.
const accounts = "account"

// membership says what a member is. One without a session has no kinds.
type membership struct {
	Servers string
	Session bool
	Timeout time.Duration
}

// command is a line that a member reads, said one that it writes.
type command struct {
	Do, Path, Kind, Address, ID string
}

type said struct {
	Event, Path, Address, ID, Text string
	Session, Token                 int64
	Valid                          bool
	Members                        int
	Relists                        int64 // so often a waiter found by looking again what an event should have told it
}

// member is a member of a cluster in a process of its own. It carries out the commands that it
// reads, and prints their results. (In one process, protoactor's own data races would end tests
// that look for ours.)
type member struct {
	system  *actor.ActorSystem
	cluster *cluster.Cluster
	client  *locks.Client
	session *actors.Session // nil: it has no session

	mu     sync.Mutex
	leases map[string]*locks.Lease
}

func (m *member) say(s said) {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	fmt.Println(string(text))
}

func beMember(o membership) error {
	zk.DefaultLogger = log.New(io.Discard, "", 0)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	m := &member{leases: map[string]*locks.Lease{}}
	m.system = actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }))
	var kinds []*cluster.Kind
	if o.Session {
		session, err := m.open(o)
		if err != nil {
			return err
		}
		kinds = append(kinds, grain.Kind(session), cluster.NewKind(accounts, m.accounts(session)))
	}
	members, err := provider.New([]string{o.Servers}, provider.WithSessionTimeout(o.Timeout))
	if err != nil {
		return err
	}
	m.cluster = cluster.New(m.system, cluster.Configure("turnstile", members, disthash.New(),
		remote.Configure("127.0.0.1", 0, gateway.WithRecovery(quiet)), cluster.WithKinds(kinds...)))
	m.cluster.StartMember()
	started := said{Event: "started", Address: m.system.Address()}
	if m.session != nil {
		started.Session = m.session.ID()
	}
	m.say(started)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		go m.do(c)
	}
	return nil
}

func (m *member) open(o membership) (*actors.Session, error) {
	cfg, err := zkconn.NewConfig(o.Servers, zkconn.WithSessionTimeout(o.Timeout))
	if err != nil {
		return nil, err
	}
	session, err := actors.StartSession(m.system, cfg)
	if err != nil {
		return nil, err
	}
	if err := session.Ready(context.Background()); err != nil {
		return nil, err
	}
	m.session = session
	return session, nil
}

// accounts are grains that say what they are served.
func (m *member) accounts(session *actors.Session) *actor.Props {
	return actor.PropsFromFunc(func(ctx actor.Context) {
		lease := activation.LeaseOf(ctx)
		s := said{Event: "served", Path: lease.Path(), Token: int64(lease.Token()), Valid: lease.Valid()}
		switch msg := ctx.Message().(type) {
		case *actor.Started:
			s.Text = "Started"
		case *cluster.ClusterInit:
			s.Text = "ClusterInit " + msg.Identity.GetIdentity()
		case *wrapperspb.StringValue:
			s.Text = msg.Value
			if ctx.Sender() != nil {
				ctx.Respond(wrapperspb.String("served " + msg.Value))
			}
		default:
			return
		}
		m.say(s)
	}, activation.Single(session, grain.Path("/grains")))
}

// locked gives the client of the cluster's locks, which is opened when it is needed first.
func (m *member) locked() (*locks.Client, error) {
	m.mu.Lock()
	client := m.client
	m.mu.Unlock()
	if client != nil {
		return client, nil
	}
	client, err := gateway.Open(context.Background(), m.system, grain.At(m.cluster))
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.client = client
	return client, nil
}

func (m *member) do(c command) {
	if err := m.try(c); err != nil {
		m.say(said{Event: "failed", Path: c.Path, Text: c.Do + ": " + err.Error()})
	}
}

func (m *member) try(c command) error {
	switch c.Do {
	case "members":
		m.say(said{Event: "members", Members: m.cluster.MemberList.Members().Len()})
	case "relists":
		m.say(said{Event: "relists", Relists: m.session.Counters().Polls})
	case "lock":
		return m.lock(c.Path)
	case "valid", "unlock":
		return m.use(c)
	case "activate":
		return m.activate(c)
	case "prefer": // this node knows of this activation only
		m.cluster.PidCache.Set(c.Path, c.Kind, actor.NewPID(c.Address, c.ID))
		m.say(said{Event: "preferred", Path: c.Path})
	case "send":
		m.system.Root.Send(actor.NewPID(c.Address, c.ID), wrapperspb.String(c.Path))
	case "stop":
		m.system.Root.Stop(actor.NewPID(c.Address, c.ID))
	case "request":
		return m.request(c)
	}
	return nil
}

// request asks a grain.
func (m *member) request(c command) (err error) {
	for range 10 { // protoactor's futures lose replies
		answer, failed := m.cluster.Request(c.ID, c.Kind, wrapperspb.String(c.Path))
		if err = failed; err == nil {
			m.say(said{Event: "answered", Text: fmt.Sprint(answer.(*wrapperspb.StringValue).GetValue())})
			return nil
		}
	}
	return err
}

func (m *member) lock(path string) error {
	client, err := m.locked()
	if err != nil {
		return err
	}
	lease, err := client.Mutex(path).Lock(context.Background())
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.leases[path] = lease
	m.mu.Unlock()
	m.say(said{Event: "held", Path: path, Token: int64(lease.Token()), Valid: lease.Valid(), Session: lease.Session()})
	return nil
}

func (m *member) use(c command) error {
	m.mu.Lock()
	lease := m.leases[c.Path]
	m.mu.Unlock()
	if lease == nil {
		return fmt.Errorf("no lease of %s", c.Path)
	}
	if c.Do == "unlock" {
		if err := lease.Unlock(context.Background()); err != nil {
			return err
		}
	}
	m.say(said{Event: c.Do, Path: c.Path, Token: int64(lease.Token()), Valid: lease.Valid()})
	return nil
}

// activate has a member activate an identity, even where the cluster places that at another member.
func (m *member) activate(c command) error {
	for range 10 { // protoactor's futures lose replies
		answer, err := m.system.Root.RequestFuture(actor.NewPID(c.Address, disthash.PartitionActivatorActorName),
			&cluster.ActivationRequest{ClusterIdentity: cluster.NewClusterIdentity(c.Path, c.Kind)},
			5*time.Second).Result()
		if err != nil {
			continue
		}
		pid := answer.(*cluster.ActivationResponse).Pid
		m.say(said{Event: "activated", Path: c.Path, Address: pid.GetAddress(), ID: pid.GetId()})
		return nil
	}
	return fmt.Errorf("%s does not activate %s", c.Address, c.Path)
}
