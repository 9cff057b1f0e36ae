package relay

import "time"

// memory holds the ids of requests that are over, so that a sending of theirs which was delayed does
// not begin them again. An id is remembered for at least keep, and no more than twice as long.
type memory struct {
	keep       time.Duration
	most       int // ids in each generation
	young, old map[string]struct{}
	turned     Instant // when the younger generation began
	lost       Instant // until when an id would have to be remembered for which there was no room
}

func newMemory(keep time.Duration, most int) memory {
	return memory{keep: keep, most: most, young: map[string]struct{}{}}
}

// add remembers an id. Where there is no room for it, room is false until a sending of it that was
// delayed has surely come: nothing that is new can be told from it.
func (m *memory) add(now Instant, id string) {
	m.turn(now)
	if _, there := m.young[id]; there {
		return
	}
	if len(m.young) >= m.most {
		m.lost = now.plus(m.keep)
		return
	}
	m.young[id] = struct{}{}
}

// has tells whether an id is remembered.
func (m *memory) has(id string) bool {
	_, young := m.young[id]
	_, old := m.old[id]
	return young || old
}

// room tells whether the end of so many requests more could be remembered, and none is forgotten
// that must not be.
func (m *memory) room(now Instant, requests int) bool {
	m.turn(now)
	return now >= m.lost && len(m.young)+requests <= m.most
}

// turn forgets the older generation, once the younger one is as old.
func (m *memory) turn(now Instant) {
	if now < m.turned.plus(m.keep) {
		return
	}
	if len(m.young) == 0 && len(m.old) == 0 {
		m.turned = now
		return
	}
	m.young, m.old, m.turned = map[string]struct{}{}, m.young, now
}
