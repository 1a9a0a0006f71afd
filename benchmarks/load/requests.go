package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// placeholder stands for the UID in both documents; every UID is as long.
const placeholder = "00000000-0000-0000-0000-000000000000"

type report struct {
	Requests     int     `json:"requests"`
	Failures     int     `json:"failures"`
	FirstFailure string  `json:"firstFailure,omitempty"`
	Handshakes   int64   `json:"handshakes"`
	Seconds      float64 `json:"seconds"`
	PerSecond    float64 `json:"perSecond"`
	// Percentiles in milliseconds, of reviews that were answered well.
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

type load struct {
	target        *url.URL
	authorities   string
	head          []byte
	body          []byte
	answer        []byte
	perConnection int
	interval      time.Duration
	remaining     atomic.Int64
	over          context.Context
	numbers       atomic.Int64
	handshakes    atomic.Int64
}

type worker struct {
	*load
	connection net.Conn
	reader     *bufio.Reader
	asked      int
	latencies  []time.Duration
	failures   int
	first      string
}

// sendRequests sends a review, or GET without one, and checks every answer.
//
// Each connection sends one request after the other and keeps alive, as an API server's connections do. The answer
// document that is expected is compared as a value, after the UID of the very request has been filled in.
func sendRequests() {
	address := flag.String("url", "", "where requests go")
	body := flag.String("body", "", "`file` with the review that is sent; none: GET")
	answer := flag.String("answer", "", "`file` with the answer that is expected; none: any")
	interval := flag.Duration("interval", 0, "time between two requests of a connection; 0: each follows the last answer")
	authorities := flag.String("ca", "", "`file` with authorities in PEM, read before each handshake; none: trust anybody")
	connections := flag.Int("connections", 1, "how many connections ask at a time")
	seconds := flag.Float64("seconds", 10, "for how long")
	requests := flag.Int64("requests", 0, "how many reviews at most; 0: as many as the time allows")
	perConnection := flag.Int("per-connection", 0, "reviews after which a connection is made anew; 0: never")
	flag.Parse()

	target, err := url.Parse(*address)
	must(err)
	l := &load{target: target, authorities: *authorities, perConnection: *perConnection, interval: *interval}
	common := fmt.Sprintf(" %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: load\r\nAccept: application/json, */*\r\n", target.RequestURI(), target.Host)
	l.head = []byte("GET" + common + "\r\n")
	if *body != "" {
		l.body = read(*body)
		l.head = fmt.Appendf(nil, "POST%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", common, len(l.body))
	}
	if *answer != "" {
		l.answer = read(*answer)
	}
	l.remaining.Store(*requests)
	if *requests == 0 {
		l.remaining.Store(1 << 62)
	}
	began := time.Now()
	l.over = until(*seconds)
	workers := make([]*worker, *connections)
	var group sync.WaitGroup
	for i := range workers {
		workers[i] = &worker{load: l}
		group.Add(1)
		go func() { defer group.Done(); workers[i].run() }()
	}
	group.Wait()
	must(json.NewEncoder(os.Stdout).Encode(l.summary(workers, time.Since(began))))
}

func (l *load) summary(workers []*worker, took time.Duration) report {
	out := report{Seconds: took.Seconds(), Handshakes: l.handshakes.Load()}
	var latencies []time.Duration
	for _, w := range workers {
		latencies = append(latencies, w.latencies...)
		out.Failures += w.failures
		if out.FirstFailure == "" {
			out.FirstFailure = w.first
		}
	}
	out.Requests = len(latencies) + out.Failures
	out.PerSecond = float64(len(latencies)) / took.Seconds()
	if len(latencies) > 0 {
		slices.Sort(latencies)
		at := func(share float64) float64 {
			return latencies[int(share*float64(len(latencies)-1))].Seconds() * 1000
		}
		out.P50, out.P90, out.P99, out.Max = at(0.5), at(0.9), at(0.99), at(1)
	}
	return out
}

// run sends requests until there are enough; paced connections begin spread over one interval.
func (w *worker) run() {
	next := time.Now().Add(time.Duration(rand.Float64() * float64(w.interval)))
	for w.remaining.Add(-1) >= 0 {
		if !pause(w.over, next) {
			break
		}
		began := time.Now()
		next = began.Add(w.interval)
		if err := w.ask(); err != nil {
			if w.over.Err() != nil {
				break
			}
			w.failures++
			if w.first == "" {
				w.first = err.Error()
			}
			w.hangUp()
			time.Sleep(10 * time.Millisecond)
			continue
		}
		w.latencies = append(w.latencies, time.Since(began))
	}
	w.hangUp()
}

// ask sends one review and says what is wrong with its answer, if anything is.
func (w *worker) ask() error {
	if w.perConnection > 0 && w.asked >= w.perConnection {
		w.hangUp()
	}
	if w.connection == nil {
		if err := w.dial(); err != nil {
			return err
		}
	}
	w.asked++
	uid := fmt.Appendf(nil, "00000000-0000-0000-0000-%012d", w.numbers.Add(1))
	if _, err := w.connection.Write(append(bytes.Clone(w.head), bytes.Replace(w.body, []byte(placeholder), uid, 1)...)); err != nil {
		return err
	}
	response, err := http.ReadResponse(w.reader, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d: %s", response.StatusCode, text)
	}
	if response.Close {
		defer w.hangUp()
	}
	if w.answer == nil {
		return nil
	}
	return w.check(text, bytes.Replace(w.answer, []byte(placeholder), uid, 1))
}

func (w *worker) check(got, expected []byte) error {
	if bytes.Equal(got, expected) {
		return nil
	}
	var one, other any
	if err := json.Unmarshal(got, &one); err != nil {
		return err
	}
	must(json.Unmarshal(expected, &other))
	if !reflect.DeepEqual(one, other) {
		return fmt.Errorf("expected %s, got %s", expected, got)
	}
	return nil
}

func (w *worker) dial() error {
	connection, err := w.connect()
	if err != nil {
		return err
	}
	w.handshakes.Add(1)
	context.AfterFunc(w.over, func() { connection.SetDeadline(time.Now()) })
	w.connection, w.reader, w.asked = connection, bufio.NewReader(connection), 0
	return nil
}

func (w *worker) connect() (net.Conn, error) {
	if w.target.Scheme == "http" {
		return net.Dial("tcp", w.target.Host)
	}
	config := &tls.Config{ServerName: w.target.Hostname(), InsecureSkipVerify: w.authorities == ""}
	if w.authorities != "" {
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(read(w.authorities))
	}
	return tls.Dial("tcp", w.target.Host, config)
}

func (w *worker) hangUp() {
	if w.connection != nil {
		w.connection.Close()
		w.connection = nil
	}
}

func read(path string) []byte {
	content, err := os.ReadFile(path)
	must(err)
	return content
}
