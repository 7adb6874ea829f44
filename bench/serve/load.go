package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"
)

// conn is an HTTP/1.1 connection whose requests are slices of bytes that are sent as they are. It is cheaper than
// net/http's client, so that one processor can load a server on another.
type conn struct {
	net.Conn
	in   *bufio.Reader
	body []byte
}

func dial(address string) (*conn, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, in: bufio.NewReaderSize(c, 16<<10)}, nil
}

// reply is an answer. head is the length of the JSON in front of binary tensors. It is −1 if the body has only
// JSON. The body is valid until the next call.
type reply struct {
	status, head int
	body         []byte
	// the server closes the connection
	last bool
}

// call sends a request and reads the answer, which must have a Content-Length.
func (c *conn) call(request []byte) (reply, error) {
	if _, err := c.Write(request); err != nil {
		return reply{}, err
	}
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return reply{}, err
	}
	r := reply{head: -1}
	fields := bytes.Fields(line)
	if len(fields) < 2 {
		return reply{}, fmt.Errorf("status line %q", line)
	}
	if r.status, err = strconv.Atoi(string(fields[1])); err != nil {
		return reply{}, err
	}
	length := -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return reply{}, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			length, err = strconv.Atoi(string(value))
		case bytes.EqualFold(name, []byte("Inference-Header-Content-Length")):
			r.head, err = strconv.Atoi(string(value))
		case bytes.EqualFold(name, []byte("Connection")):
			r.last = bytes.EqualFold(value, []byte("close"))
		}
		if err != nil {
			return reply{}, err
		}
	}
	if length < 0 {
		return reply{}, errors.New("the answer has no Content-Length")
	}
	c.body = slices.Grow(c.body[:0], length)[:length]
	r.body = c.body
	_, err = io.ReadFull(c.in, r.body)
	return r, err
}

// load is the outcome of requests that were sent for some time.
type load struct {
	took      time.Duration
	latencies []time.Duration // of the requests that were answered, ascending
	failed    int             // without an answer of status 200
	failure   string          // the cause of one failure
}

func (l *load) perSecond() float64 { return float64(len(l.latencies)) / l.took.Seconds() }

// quantile returns the latency at quantile q of [0, 1], or 0 if there are no latencies.
func (l *load) quantile(q float64) time.Duration {
	if len(l.latencies) == 0 {
		return 0
	}
	return l.latencies[int(q*float64(len(l.latencies)-1))]
}

// run sends a request over and over on n connections until stop is closed. Each connection waits for an answer before
// it sends the next request. A broken connection is opened again if the server accepts it. A connection that the
// server closes with an answer is not opened again. Such a server is shutting down, and a load balancer would choose
// another server.
func run(address string, request []byte, n int, stop <-chan struct{}) *load {
	l := &load{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	for range n {
		wg.Go(func() {
			var latencies []time.Duration
			failed, failure := 0, ""
			var c *conn
			for !isClosed(stop) {
				if c == nil {
					var err error
					if c, err = dial(address); err != nil {
						break
					}
				}
				begun := time.Now()
				r, err := c.call(request)
				took := time.Since(begun)
				if err == nil && r.status != 200 {
					err = fmt.Errorf("status %d: %s", r.status, r.body)
				}
				if err == nil {
					latencies = append(latencies, took)
				} else if failed++; failed == 1 {
					failure = err.Error()
				}
				if r.last {
					break
				}
				if err != nil {
					c.Close()
					c = nil
				}
			}
			if c != nil {
				c.Close()
			}
			mu.Lock()
			defer mu.Unlock()
			l.latencies = append(l.latencies, latencies...)
			l.failed += failed
			if l.failure == "" {
				l.failure = failure
			}
		})
	}
	wg.Wait()
	l.took = time.Since(start)
	slices.Sort(l.latencies)
	return l
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// runFor is [run] for time d.
func runFor(address string, request []byte, n int, d time.Duration) *load {
	stop := make(chan struct{})
	time.AfterFunc(d, func() { close(stop) })
	return run(address, request, n, stop)
}
