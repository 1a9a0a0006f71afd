package main

import (
	"context"
	"encoding/json"
	"flag"
	"net"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// crowd opens connections that send half a request, or one byte every so often, and wait to be closed.
//
// Every connection that the server closes is opened again when the next round begins, so that as many connections as
// asked for arrive in each round.
func crowd() {
	address := flag.String("url", "", "whose host and port are connected to")
	connections := flag.Int("connections", 1, "connections of a round")
	period := flag.Duration("period", time.Minute, "from one round to the next")
	interval := flag.Duration("interval", 0, "time between two bytes; 0: half a request at once, and then nothing")
	seconds := flag.Float64("seconds", 10, "for how long")
	flag.Parse()

	target, err := url.Parse(*address)
	must(err)
	over := until(*seconds)
	var opened, refused, closed atomic.Int64
	var group sync.WaitGroup
	for range *connections {
		group.Add(1)
		go func() {
			defer group.Done()
			for over.Err() == nil {
				next := time.Now().Add(*period)
				connection, err := net.Dial("tcp", target.Host)
				if err != nil {
					refused.Add(1)
				} else {
					opened.Add(1)
					if linger(connection, *interval, over) {
						closed.Add(1)
					}
				}
				pause(over, next)
			}
		}()
		// Four fifths of a period is enough time for all to arrive.
		pause(over, time.Now().Add(*period*4/5/time.Duration(*connections)))
	}
	group.Wait()
	must(json.NewEncoder(os.Stdout).Encode(map[string]int64{
		"opened": opened.Load(), "refused": refused.Load(), "closed": closed.Load(),
	}))
}

// linger keeps a connection until the server closes it, and says whether it did.
func linger(connection net.Conn, interval time.Duration, over context.Context) bool {
	defer connection.Close()
	const request = "GET /healthz HTTP/1.1\r\nHost: probes\r\nX-Filler: "
	if interval == 0 {
		connection.Write([]byte(request))
	} else {
		go func() {
			for i := 0; ; i++ {
				piece := "x"
				if i < len(request) {
					piece = request[i : i+1]
				}
				if _, err := connection.Write([]byte(piece)); err != nil {
					return
				}
				time.Sleep(interval)
			}
		}()
	}
	defer context.AfterFunc(over, func() { connection.SetDeadline(time.Now()) })()
	connection.Read(make([]byte, 4096))
	return over.Err() == nil
}
