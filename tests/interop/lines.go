package interop

import (
	"bufio"
	"io"
	"strings"
)

// readLines gives every line to take, without its end, until there are no more.
func readLines(from io.Reader, take func(line string)) {
	reader := bufio.NewReader(from)
	for {
		line, err := reader.ReadString('\n')
		if line != "" {
			take(strings.TrimRight(line, "\r\n"))
		}
		if err != nil {
			return
		}
	}
}
