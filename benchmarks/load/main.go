// Command load puts load on a process, and measures how fast it answers.
//
//	load requests  sends requests to a URL, on connections that are kept alive
//	load crowd     opens connections to a URL that never bring a whole request
//	load gateway   stands before an API server and hands its answers on late
//
// Results are one line of JSON.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"time"
)

func main() {
	commands := map[string]func(){"requests": sendRequests, "crowd": crowd, "gateway": gateway}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		log.Fatal("usage: load requests|crowd|gateway FLAGS")
	}
	command := commands[os.Args[1]]
	os.Args = os.Args[1:]
	command()
}

// until returns a context that ends when the time is over, or when standard input ends, at the latest with who holds it.
func until(seconds float64) context.Context {
	over, end := context.WithCancel(context.Background())
	time.AfterFunc(time.Duration(seconds*float64(time.Second)), end)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		end()
	}()
	return over
}

// pause returns whether a context has not ended before a time.
func pause(over context.Context, next time.Time) bool {
	select {
	case <-over.Done():
		return false
	case <-time.After(time.Until(next)):
		return over.Err() == nil
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
