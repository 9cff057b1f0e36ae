package look

import "time"

const (
	// shortest is the pause between two looks at a queue that changes all the time.
	shortest = 250 * time.Millisecond
	// proofPace is the pause between two readings of the own session, which ask no server.
	proofPace = 250 * time.Millisecond
	// perContender makes it longer for long queues: 10 000 contenders are looked at every two seconds or so.
	perContender = 200 * time.Microsecond
	// hasty is the time after the start for which the tree is read more often: somebody waits to
	// see something.
	hasty = 2 * time.Second
	// After a question we rest restful times as long as it took, before it is asked again.
	restful = 9
	// calm is the number of looks without anything new after which a queue is followed again.
	calm = 4
	// afterRefusal is the pause before a queue is read again that could not be read.
	afterRefusal = 5 * time.Second
	// Waiting are told when somebody comes or goes, and not when somebody is asked for the lock, which is written to
	// the holder's node: so a queue is read now and then although it is calm, more often while its page is open.
	refreshOpened = 2 * time.Second
	refreshOthers = 15 * time.Second
)

// refresh is the time after which a queue is read although nobody has come or gone.
func refresh(opened bool, contenders int) time.Duration {
	if opened {
		return max(refreshOpened, 4*pause(contenders))
	}
	return max(refreshOthers, 4*pause(contenders))
}

// pause is the time for which a queue of so many contenders is left alone after it was read.
func pause(contenders int) time.Duration {
	return max(shortest, time.Duration(contenders)*perContender)
}

// rest is the pause after a question that took so long.
func rest(usual, took time.Duration) time.Duration { return max(usual, restful*took) }
