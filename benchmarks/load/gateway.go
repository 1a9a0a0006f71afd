package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// late says how the gateway treats answers; changed while it runs.
type late struct {
	sync.Mutex
	delay   time.Duration
	refused string
}

// gateway listens on loopback, in plain HTTP, prints its port, and ends with its standard input, whose lines are:
//
//	delay 1.5s   every answer is that late, but not the events of watches
//	refuse PART  requests for paths that end so are answered with 503
//	serve        every request is handed on again
func gateway() {
	upstream := flag.String("upstream", "", "URL of the API server")
	authorities := flag.String("ca", "", "`file` with its authorities in PEM")
	flag.Parse()

	target, err := url.Parse(*upstream)
	must(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(read(*authorities))
	treatment := &late{}
	proxy := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:      &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, MaxIdleConnsPerHost: 1000, DisableCompression: true},
		FlushInterval:  -1,
		ModifyResponse: treatment.wait,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.WriteHeader(http.StatusServiceUnavailable)
		},
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	go func() { must(http.Serve(listener, proxy)) }()
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		treatment.change(lines.Text())
		fmt.Println("done")
	}
}

func (l *late) change(line string) {
	l.Lock()
	defer l.Unlock()
	command, value, _ := strings.Cut(line, " ")
	switch command {
	case "delay":
		delay, err := time.ParseDuration(value)
		must(err)
		l.delay = delay
	case "refuse":
		l.refused = value
	case "serve":
		l.refused = ""
	default:
		log.Fatalf("unknown command %q", line)
	}
}

func (l *late) wait(response *http.Response) error {
	l.Lock()
	delay, refused := l.delay, l.refused
	l.Unlock()
	asked := response.Request
	if asked.URL.Query().Get("watch") == "" {
		time.Sleep(delay)
	}
	if refused != "" && strings.HasSuffix(asked.URL.Path, refused) {
		return errors.New("refused")
	}
	return nil
}
