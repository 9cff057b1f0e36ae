package zkconn

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// Container nodes through the library's Create.
//
// The library's Create takes zk.FlagContainer and makes a plain persistent node of it, silently (its issue 165), for
// the server looks at the operation and not at the flag. Its CreateContainer sends the right operation, but reads its
// reply also when the call was given up because the connection is being closed, while the receiving goroutine may
// still be writing it: a data race in every Close with such a call under way. So we call Create with the flag, which
// nothing else here does, and the transport puts the right operation into the frame.

// nameContainerOp gives the frame as a create-container request where it is a create with the container flag. It
// changes a copy: a Writer must not modify what it is given.
func nameContainerOp(frame []byte) []byte {
	if requestOp(frame) != opCreate {
		return frame
	}
	flags := int32(binary.BigEndian.Uint32(frame[len(frame)-4:]))
	if flags != zk.FlagContainer {
		return frame
	}
	frame = bytes.Clone(frame)
	binary.BigEndian.PutUint32(frame[8:], opCreateContainer)
	return frame
}

// containers is what is known of whether the servers make container nodes.
type containers struct {
	none    atomic.Bool  // they do not
	hangUps atomic.Int32 // on creates of containers, one after the other
}

// manyHangUps is how often in a row the connection is lost with the create of a container before persistent nodes are
// made instead: servers, and proxies before them, that do not know the operation may close the connection (ClickHouse
// Keeper did until 2026). One loss says nothing.
const manyHangUps = 2

// makeContainer makes a container node, or a persistent one where the servers do not make those. A server that does not
// know containers may close the connection after its answer, too. The second request can then end as an unknown outcome,
// and the caller's next attempt makes persistent nodes from the start.
func (c *Conn) makeContainer(absolute string) error {
	acl := c.cfg.aclOfParent(absolute)
	if !c.containers.none.Load() {
		err := c.patiently(func() error {
			_, err := c.zk.Create(absolute, []byte{}, zk.FlagContainer, acl)
			return err
		})
		if !c.refusesContainers(err) {
			return c.namedLoss("create container", absolute, err)
		}
	}
	return c.namedLoss("create", absolute, c.patiently(func() error {
		_, err := c.zk.Create(absolute, []byte{}, zk.FlagPersistent, acl)
		return err
	}))
}

// refusesContainers takes the outcome of the create of a container. It says whether a persistent node may be made in its
// place now. What a server has hung up on may have been carried out: the caller tries again, and finds out.
func (c *Conn) refusesContainers(err error) bool {
	code, answered := codeOf(err)
	switch {
	case answered && (code == codeUnimplemented || code == codeBadArguments):
	case c.lost.of(err) == ErrHungUp:
		if c.containers.hangUps.Add(1) < manyHangUps {
			return false
		}
	default:
		if err == nil || OutcomeOf(err) == Refused {
			c.containers.hangUps.Store(0)
		}
		return false
	}
	if !c.containers.none.Swap(true) {
		c.log.Warn("zookeeper server knows no container nodes; making persistent ones", logkeys.Error, err)
	}
	return answered
}

// namedLoss gives a loss of the connection the name of the node that was to be made; other errors stay as they are.
func (c *Conn) namedLoss(op, absolute string, err error) error {
	if c.lost.of(err) == nil {
		return err
	}
	return c.failure(op, c.relative(absolute), err)
}
