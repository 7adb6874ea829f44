package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFlags(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	models := []Model{(&doubler{}).model("double"), (&doubler{}).model("other")}
	for _, c := range []struct{ args, want string }{
		{"-max-batch 8 -max-delay 2ms -token-file " + token + " -cors https://a.example,https://b.example -weights double=w -log off", ""},
		{"-log loud", "text, json or off expected"},
		{"-tls-cert a", "need each other"},
		{"-weights w", "there is no such model"},
		{"-weights third=w", "there is no such model"},
		{"-weights double=", "NAME=FILE or FILE expected"},
		{"-token-file " + os.DevNull, "is empty"},
		{"more", "unexpected argument"},
		{"-sessions many", "invalid value"},
	} {
		p, err := parse(strings.Fields(c.args), models, io.Discard)
		if c.want == "" {
			if err != nil || p.options.MaxBatch != 8 || p.options.Token != "secret" || len(p.options.Origins) != 2 || p.models[0].Weights != "w" || models[0].Weights != "" {
				t.Errorf("%s: %v, %+v", c.args, err, p)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
	}
}

// TestDrain ends a program while requests run: all are answered, and their connections end. So does the connection of a
// request that arrives then. Then the program ends.
func TestDrain(t *testing.T) {
	d := &doubler{gate: make(chan struct{}), started: make(chan int, 10)}
	p, err := parse(strings.Fields("-http 127.0.0.1:0 -grpc 127.0.0.1:0 -sessions 1 -log off"), []Model{d.model("double")}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	address, ended := make(chan string, 1), make(chan error, 1)
	p.started = func(http, grpc net.Addr) { address <- http.String() }
	go func() { ended <- p.run(ctx) }()
	var url string
	select {
	case a := <-address:
		url = "http://" + a + "/v2/models/double/infer"
	case err := <-ended:
		t.Skip("no loopback: ", err)
	}
	answers := make(chan int, 3)
	for range 3 {
		go func() {
			r, err := http.Post(url, "application/json", pair(1, 2))
			if err != nil {
				t.Error(err)
				answers <- 0
				return
			}
			r.Body.Close()
			answers <- r.StatusCode
		}()
	}
	<-d.started
	time.Sleep(20 * time.Millisecond) // the others reach the queue
	idle, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/v2/models/double/infer"))
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	cancel()
	until(t, "draining", func() bool {
		r, err := http.Get(strings.TrimSuffix(url, "/infer") + "/ready")
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		return r.StatusCode == http.StatusServiceUnavailable && r.Close
	})
	close(d.gate)
	fmt.Fprintf(idle, "GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if text, err := io.ReadAll(idle); err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 200 ") || !strings.Contains(string(text), "\r\nConnection: close\r\n") {
		t.Errorf("%v\n%s", err, text)
	}
	for range 3 {
		if status := <-answers; status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestHelp(t *testing.T) {
	var b bytes.Buffer
	if _, err := parse([]string{"-help"}, nil, &b); err == nil || !strings.Contains(b.String(), "-max-batch") {
		t.Errorf("%v\n%s", err, &b)
	}
}
