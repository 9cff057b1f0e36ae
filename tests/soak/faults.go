package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// clientMoves is the fault for which members allow different session timeouts.
const clientMoves = "client-moves"

// clientFaults are the faults of one client, or of its network.
func (s *stage) clientFaults() []fault {
	all := []fault{{"frames-held-before-lock", s.framesHeld}}
	add := func(name string, do func(context.Context, *rand.Rand, *subject) error) {
		all = append(all, fault{name, func(ctx context.Context, rng *rand.Rand) error {
			c := s.subjects[rng.IntN(len(s.subjects))]
			s.tell("client %d: %s", c.number, name)
			return do(ctx, rng, c)
		}})
	}
	last := func(name string, from, to float64, breaks func(*rand.Rand, *subject)) {
		add(name, func(ctx context.Context, rng *rand.Rand, c *subject) error {
			breaks(rng, c)
			d := s.sessions(rng, from, to)
			s.tell("client %d: for %v", c.number, d)
			rig.Rest(ctx, d)
			c.heal()
			return nil
		})
	}
	add("connections-cut", func(_ context.Context, _ *rand.Rand, c *subject) error {
		for _, p := range c.proxies {
			p.Cut()
		}
		return nil
	})
	last("network-down", 0.2, 2, func(_ *rand.Rand, c *subject) { c.down() })
	last("replies-held", 0.3, 2, func(_ *rand.Rand, c *subject) { c.stall(rig.Down) })
	last("requests-held", 0.1, 2, func(_ *rand.Rand, c *subject) { c.stall(rig.Up) })
	last("client-slow", 1, 3, func(rng *rand.Rand, c *subject) {
		up, down := s.sessions(rng, 0, 0.15), s.sessions(rng, 0, 0.15)
		for _, p := range c.proxies {
			p.Delay(rig.Up, up)
			p.Delay(rig.Down, down)
		}
	})
	// The process stands still for longer than its session lasts, or for about as long as its leases.
	pause := func(from, to float64) func(context.Context, *rand.Rand, *subject) error {
		return func(ctx context.Context, rng *rand.Rand, c *subject) error {
			p := c.current()
			err := p.Pause()
			rig.Rest(ctx, s.sessions(rng, from, to))
			return errors.Join(err, p.Resume())
		}
	}
	add("client-pause", pause(1.2, 2.5))
	add("client-blink", pause(0.1, 0.8))
	add("client-kill", func(_ context.Context, rng *rand.Rand, c *subject) error { return c.restart(s.sessions(rng, 0, 1.5)) })
	add("replies-lost", s.repliesLost)
	add("in-doubt", s.leftInDoubt)
	add(clientMoves, s.clientMoved)
	return all
}

// clientMoved has a client connect to another member, which may grant another session timeout, and on to the next.
// In half of the cases it reaches none at all after that for a while.
func (s *stage) clientMoved(ctx context.Context, rng *rand.Rand, c *subject) error {
	for _, member := range rng.Perm(members) {
		if member == c.at() {
			continue
		}
		c.moveTo(ctx, member, s.Session)
		c.command(doBurst)
		rig.Rest(ctx, s.sessions(rng, 0, 0.5))
		if rng.IntN(2) == 0 {
			c.down()
			rig.Rest(ctx, s.sessions(rng, 0.3, 1))
			c.heal()
		}
	}
	return nil
}

// repliesLost cuts connections in place of the next replies to creates, deletes and heartbeats: they
// were carried out, and the client does not know.
func (s *stage) repliesLost(ctx context.Context, rng *rand.Rand, c *subject) error {
	op := []rig.OpCode{rig.OpCreate, rig.OpDelete, rig.OpMulti}[rng.IntN(3)]
	for range 1 + rng.IntN(4) {
		// It happens at the member to which the client is connected. At the others it stays armed, for
		// when the client comes there.
		for _, p := range c.proxies {
			p.Expect(rig.Rule{Op: op, Action: rig.DropReply})
		}
		rig.Rest(ctx, 500*time.Millisecond)
	}
	return nil
}

// leftInDoubt cuts the connection at a create or at a delete, before it is passed on or in place of its reply, and the
// client reaches no server for a while: requests that are given up meanwhile end with their outcome unknown.
func (s *stage) leftInDoubt(ctx context.Context, rng *rand.Rand, c *subject) error {
	member := c.at()
	if member < 0 {
		return nil // it is between two servers
	}
	armed := c.proxies[member].Expect(rig.Rule{Op: []rig.OpCode{rig.OpCreate, rig.OpDelete}[rng.IntN(2)],
		Action: []rig.Action{rig.CutBefore, rig.DropReply}[rng.IntN(2)]})
	c.command(doBurst)
	select {
	case <-armed.Fired():
		c.down()
		rig.Rest(ctx, s.sessions(rng, 0.02, 0.5))
		c.heal()
	case <-ctx.Done():
	case <-time.After(s.Session):
	}
	return nil
}

// framesHeld holds up what a calm client sends, or what it is sent, or both, for up to 0.9 T. Its workers ask for
// locks in the midst of that, and again when it is over; then the other calm clients for the same ones.
func (s *stage) framesHeld(ctx context.Context, rng *rand.Rand) error {
	victim, others := s.calmVictim(rng)
	if victim == nil {
		return nil
	}
	d := s.sessions(rng, 0.1, 0.9)
	ways := [][]rig.Way{{rig.Up}, {rig.Down}, {rig.Up, rig.Down}}[rng.IntN(3)]
	s.tell("client %d: frames held up for %v, %v, around requests for locks", victim.number, d, ways)
	for _, w := range ways {
		victim.stall(w)
	}
	asks := upTo(rng, d)
	rig.Rest(ctx, asks)
	victim.command(doBurst)
	rig.Rest(ctx, d-asks)
	victim.heal()
	for _, c := range append(others, victim) {
		c.command(doBurst)
	}
	return nil
}

// linkFaults are the faults of one direction of the link between the leader and a follower. All members are up.
func (s *stage) linkFaults() (all []fault) {
	for _, way := range []string{"from-leader", "to-leader"} {
		add := func(name string, breaks func(context.Context, *rand.Rand, oneWay) error) {
			all = append(all, fault{name + way, func(ctx context.Context, rng *rand.Rand) error {
				leader, err := s.leader(ctx)
				if err != nil {
					return err
				}
				link := oneWay{leader: leader, follower: s.follower(rng, leader)}
				ends := []*rig.Server{s.ensemble.Members()[leader], s.ensemble.Members()[link.follower]}
				if way == "to-leader" { // answers to pings, acknowledgements and requests; pings, proposals and commits otherwise
					slices.Reverse(ends)
				}
				link.OneWay = s.ensemble.Link(ends[0], ends[1])
				s.tell("%s%s of member %d", name, way, link.follower)
				err = breaks(ctx, rng, link)
				link.Heal()
				return errors.Join(err, s.mend())
			}})
		}
		add("link-stall-", s.linkStalls)
		add("link-delay-", func(ctx context.Context, rng *rand.Rand, link oneWay) error {
			link.Delay(s.sessions(rng, 0.01, 0.3))
			rig.Rest(ctx, s.sessions(rng, 1, 3))
			return nil
		})
		add("lock-behind-stall-", s.lockBehindStall)
	}
	return all
}

// oneWay is one direction of the link between the leader and a follower; members count from 0.
type oneWay struct {
	*rig.OneWay
	leader, follower int
}

func (s *stage) follower(rng *rand.Rand, leader int) int {
	return (leader + 1 + rng.IntN(members-1)) % members
}

func (s *stage) linkStalls(ctx context.Context, rng *rand.Rand, link oneWay) error {
	link.Stall()
	rig.Rest(ctx, s.sessions(rng, 0.2, 3))
	return nil
}

// lockBehindStall has a calm client of a follower, whose session is idle, ask for locks that are free, while the link
// stalls, and then the other calm clients for the same ones. The link is healed when one of those is granted what the
// first one asked for earlier: then the first one hears of its own locks, and its session has expired.
func (s *stage) lockBehindStall(ctx context.Context, rng *rand.Rand, link oneWay) error {
	victim, others := s.idleVictim(ctx, rng, link.leader, link.follower)
	if victim == nil {
		return s.linkStalls(ctx, rng, link)
	}
	defer resume(append(others, victim)...)
	timeout := victim.proxies[link.follower].Timeout() // members may differ
	part := 0.2 + 0.78*rng.Float64()
	if rng.IntN(2) == 0 {
		part = 0.7 + 0.28*rng.Float64() // what is asked for late is believed in for longest
	}
	stalled, cancel := context.WithTimeout(ctx, s.sessions(rng, 1.5, 3))
	defer cancel()
	link.Stall()
	rig.Rest(stalled, time.Duration(part*float64(timeout)))
	overtaken, forget := s.judge.await(overtakes(victim.number))
	defer forget()
	resume(victim)
	rig.Rest(stalled, s.Session/50)
	for {
		resume(others...)
		select {
		case <-overtaken:
			s.tell("client %d was overtaken", victim.number)
			return nil
		case <-stalled.Done():
			return nil
		case <-time.After(s.Session / 50):
		}
	}
}

// diesAfterGrant holds up the frames of a calm client of a follower for up to 0.9 T, has it ask for locks, and kills
// the follower as soon as it has one; sometimes the client reaches no other server for a while. The others ask for
// the same locks.
func (s *stage) diesAfterGrant(ctx context.Context, rng *rand.Rand) error {
	leader, err := s.leader(ctx)
	if err != nil {
		return err
	}
	member := s.follower(rng, leader)
	victim, others := s.idleVictim(ctx, rng, leader, member)
	if victim == nil {
		return nil
	}
	defer resume(append(others, victim)...)
	s.tell("client %d: frames held up; member %d is killed after its next grant", victim.number, member)
	victim.stall(rig.Up)
	rig.Rest(ctx, s.sessions(rng, 0.1, 0.9))
	granted, forget := s.judge.await(grantedTo(victim.number))
	defer forget()
	victim.heal()
	resume(victim)
	select {
	case <-granted:
	case <-time.After(s.Session):
	case <-ctx.Done():
	}
	err = s.ensemble.Members()[member].Kill()
	if rng.IntN(3) != 0 {
		victim.down()
	}
	for begin := now(); now()-begin < int64(s.Session) && rig.Rest(ctx, s.Session/20); {
		resume(others...)
	}
	victim.heal()
	return errors.Join(err, s.mend())
}

// calmVictim draws a calm client; others are the other ones. It is nil where there are not two.
func (s *stage) calmVictim(rng *rand.Rand) (victim *subject, others []*subject) {
	calm := slices.Clone(s.subjects[s.Clients:])
	if len(calm) < 2 {
		return nil, nil
	}
	n := rng.IntN(len(calm))
	return calm[n], slices.Delete(slices.Clone(calm), n, n+1)
}

// idleVictim draws a calm client. It is at the follower, and the other calm clients are not. All their requests end,
// and no new ones begin until resume. It is nil where there are not two of them.
func (s *stage) idleVictim(ctx context.Context, rng *rand.Rand, leader, follower int) (victim *subject, others []*subject) {
	if victim, others = s.calmVictim(rng); victim == nil {
		return nil, nil
	}
	victim.moveTo(ctx, follower, s.Session)
	var ending sync.WaitGroup
	for _, c := range append(others, victim) {
		if c != victim && c.at() == follower {
			c.moveTo(ctx, leader, s.Session)
		}
		ending.Go(func() { _ = c.hush(3 * s.Session) }) // its session is not idle otherwise
	}
	ending.Wait()
	if rng.IntN(3) == 0 {
		rig.Rest(ctx, s.sessions(rng, 0, 0.5)) // it may retain nodes
	} else {
		rig.Rest(ctx, s.sessions(rng, 1.05, 1.3))
	}
	return victim, others
}

// resume lets requests of clients begin again, and ends all pauses.
func resume(clients ...*subject) {
	for _, c := range clients {
		c.command(doGo)
		c.command(doBurst)
	}
}

// massSessions is the number of sessions that expire together with the clients'. The leader takes
// all that are due at one tick off its queue at once, and logs a line for each as it ends them
// (SessionTrackerImpl.run, ZooKeeperServer.expire).
const massSessions = 300

// massesExpire has a crowd of sessions and the connections of some clients fall silent at one instant, while the leader's
// log takes about a session timeout for the crowd's lines. Each client comes back at a moment of its own, from 0.8 to 1.6
// session timeouts after that. One that comes while the leader ends the crowd is renewed, has transactions committed, and
// is ended all the same. It holds for long, and the others ask for the same locks.
func (s *stage) massesExpire(ctx context.Context, rng *rand.Rand) error {
	leads, err := s.leader(ctx)
	if err != nil {
		return err
	}
	all := s.ensemble.Members()
	member, leader := rng.IntN(members), all[leads]
	var victims, others []*subject // one of each kind where there is more than one
	for _, kind := range [][]*subject{s.subjects[:s.Clients], s.subjects[s.Clients:]} {
		half := (len(kind) + 1) / 2
		for i, n := range rng.Perm(len(kind)) {
			if i < half {
				victims = append(victims, kind[n])
			} else {
				others = append(others, kind[n])
			}
		}
	}
	for _, c := range victims {
		if c.at() != member {
			c.moveTo(ctx, member, s.Session/4)
		}
	}
	crowd, err := rig.OpenCrowd(ctx, []string{all[member].Addr()}, massSessions, s.Session)
	defer crowd.Leave()
	if err != nil {
		return err
	}
	leader.SlowLog(max(1, int(massSessions/crowd.Timeout().Seconds())))
	err = crowd.FallSilent()
	for _, c := range victims {
		c.command(doBurst) // so that the leader hears of it when it hears of the crowd
		c.command(doLong)
	}
	rig.Rest(ctx, tick/4)
	for _, c := range victims {
		c.down()
	}
	s.tell("%d sessions of %v at member %d, and %d clients, fall silent", massSessions, crowd.Timeout(), member, len(victims))
	silent, done := time.Now(), make(chan struct{})
	var coming sync.WaitGroup
	for _, c := range victims {
		part := rand.New(rand.NewPCG(rng.Uint64(), 0))
		coming.Go(func() { s.comesBack(ctx, part, c, silent, crowd.Timeout()) })
	}
	go func() { coming.Wait(); close(done) }()
	for {
		select {
		case <-done:
			return err // the fault that broke a member repairs it, and may be at work just now
		case <-time.After(s.Session / 50):
			for _, c := range others {
				c.command(doBurst)
			}
		}
	}
}

// comesBack lets a client come back. In one of two cases it hears nothing more once it has been granted a lock.
func (s *stage) comesBack(ctx context.Context, rng *rand.Rand, c *subject, silent time.Time, timeout time.Duration) {
	defer c.heal()
	timeouts := func(from, to float64) time.Duration {
		return time.Duration((from + rng.Float64()*(to-from)) * float64(timeout))
	}
	comes, deaf := timeouts(0.8, 1.6), timeouts(-1, 1)
	rig.Rest(ctx, time.Until(silent.Add(comes)))
	granted, forget := s.judge.await(grantedTo(c.number))
	defer forget()
	c.heal()
	c.command(doBurst)
	select {
	case <-granted:
		s.tell("client %d is granted a lock %.2f T after that", c.number, float64(time.Since(silent))/float64(timeout))
		if deaf > 0 {
			c.stall(rig.Down)
			rig.Rest(ctx, deaf)
		}
	case <-time.After(timeout):
	case <-ctx.Done():
	}
}
