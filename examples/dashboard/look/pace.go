package look

import "time"

const (
	// shortest is the pause between two looks at a queue that changes all the time.
	shortest = 250 * time.Millisecond
	// proofPace is how often the own session is asked what it knows of itself, which asks no server.
	proofPace = 250 * time.Millisecond
	// perContender makes it longer for long queues: 10 000 contenders are looked at every two seconds or so.
	perContender = 200 * time.Microsecond
	// hasty is how long after the start the tree is looked at more often: somebody waits to see something.
	hasty = 2 * time.Second
	// restful is how many times as long as a question took we rest before it is asked again.
	restful = 9
	// calm is after how many looks that showed nothing new a queue is followed again.
	calm = 4
	// afterRefusal is the pause before a queue is read again that could not be read.
	afterRefusal = 5 * time.Second
	// Waiting are told when somebody comes or goes, and not when somebody is asked for the lock, which is written to
	// the holder's node: so a queue is read now and then although it is calm, more often while its page is open.
	refreshOpened = 2 * time.Second
	refreshOthers = 15 * time.Second
)

// refresh is after how long a queue is read although nobody has come or gone.
func refresh(opened bool, contenders int) time.Duration {
	if opened {
		return max(refreshOpened, 4*pause(contenders))
	}
	return max(refreshOthers, 4*pause(contenders))
}

// pause is how long a queue of so many contenders is left alone after it was read.
func pause(contenders int) time.Duration {
	return max(shortest, time.Duration(contenders)*perContender)
}

// rest is how long nothing is asked after a question that took so long.
func rest(usual, took time.Duration) time.Duration { return max(usual, restful*took) }
