package look

import "time"

const (
	// shortest is the pause between two looks at a queue that changes all the time.
	shortest = 250 * time.Millisecond
	// perContender makes it longer for long queues: 10 000 contenders are looked at every two seconds or so.
	perContender = 200 * time.Microsecond
	// restful is how many times as long as a question took we rest before it is asked again.
	restful = 9
	// calm is after how many looks that showed nothing new a queue is followed again.
	calm = 4
	// afterRefusal is the pause before a queue is read again that could not be read.
	afterRefusal = 5 * time.Second
)

// pause is how long a queue of so many contenders is left alone after it was read.
func pause(contenders int) time.Duration {
	return max(shortest, time.Duration(contenders)*perContender)
}

// rest is how long nothing is asked after a question that took so long.
func rest(usual, took time.Duration) time.Duration { return max(usual, restful*took) }
