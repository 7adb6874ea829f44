package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/dash/internal/progress"
	"github.com/burngen/burngen/runtime/learn"
)

// events are a short run. A name in it is hostile to pages.
func events() []learn.Event {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const evil = `</script><img src=x onerror="document.title='broken in'">`
	out := []learn.Event{learn.Started{Time: at, Run: "mnist" + evil, Epochs: 2, Batches: 10, Valid: 2,
		Metrics: []learn.Series{{Name: "loss", Better: -1, Curve: true}, {Name: evil, Unit: evil, Better: 1, Curve: true}}}}
	for i := range 15 {
		out = append(out, learn.Stepped{Time: at, Split: learn.Train, Epoch: i / 10, Batch: i % 10, Step: i + 1, Items: 4, Loss: learn.Number(2 / float64(i+1)), Took: time.Millisecond,
			Values: []learn.Value{{Name: evil, Value: learn.Number(math.NaN())}}})
		if i == 9 {
			out = append(out, learn.Measured{Time: at, Split: learn.Valid, Step: 10, Values: []learn.Value{{Name: "loss", Value: 0.25}, {Name: evil, Value: 7}}})
		}
	}
	return append(out, learn.Warned{Time: at, Message: evil})
}

func runOf(events ...learn.Event) *progress.Run {
	run := progress.New()
	for _, e := range events {
		run.Event(e)
	}
	return run
}

// folder writes events into the folder of a run.
func folder(t *testing.T, events ...learn.Event) string {
	t.Helper()
	dir := t.TempDir()
	var text []byte
	for _, e := range events {
		var err error
		if text, err = learn.AppendEvent(text, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "events.jsonl"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// client gives up after a minute, as no test waits longer for a message.
var client = http.Client{Timeout: time.Minute}

// messages reads n messages of a server.
func messages(t *testing.T, url string, n int, between func()) []message {
	t.Helper()
	r, err := client.Get(url + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if got := r.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("type %q, status %s", got, r.Status)
	}
	var all []message
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<20)
	for len(all) < n && lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var m message
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			t.Fatal(err)
		}
		if all = append(all, m); len(all) == 1 && between != nil {
			between()
		}
	}
	if len(all) < n {
		t.Fatalf("%d messages: %v", len(all), lines.Err())
	}
	return all
}

func TestMessages(t *testing.T) {
	run := runOf(events()...)
	server := httptest.NewServer(newHandler(run, true))
	defer server.Close()
	got := messages(t, server.URL, 2, func() {
		run.Event(learn.Stepped{Split: learn.Train, Epoch: 1, Batch: 5, Step: 16, Items: 4, Loss: 0.125, Took: time.Millisecond})
	})
	m := got[0]
	if m.Position != "epoch 2/2 · batch 5/10" || m.Done != 0.5 || !strings.HasPrefix(m.Name, "mnist</script>") || len(m.Tabs) != 2 || m.Tabs[0] != "loss" {
		t.Errorf("%+v", m)
	}
	if len(m.Curves) != 3 || !m.Curves[0].Whole || len(m.Curves[0].Points) != 15 || m.Curves[1].Points[0] != [2]float64{10, 0.25} {
		t.Errorf("curves at first: %+v", m.Curves)
	}
	if c := got[1].Curves; len(c) != 1 || c[0].Whole || len(c[0].Points) != 1 || c[0].Points[0] != [2]float64{16, 0.125} {
		t.Errorf("curves that are new: %+v", c)
	}
	if len(m.Rows) != 2 || m.Rows[0][2] != "0.2500" || m.Rows[0][3] != "0.2500 e1" {
		t.Errorf("rows: %q", m.Rows)
	}
}

func TestARunThatBeginsAnewReplacesTheCurves(t *testing.T) {
	run := runOf(events()...)
	server := httptest.NewServer(newHandler(run, true))
	defer server.Close()
	got := messages(t, server.URL, 2, func() {
		run.Reset()
		for _, e := range events()[:3] {
			run.Event(e)
		}
	})
	if got[0].Generation == got[1].Generation || len(got[1].Curves) != 1 || !got[1].Curves[0].Whole || len(got[1].Curves[0].Points) != 2 {
		t.Errorf("%+v", got[1])
	}
}

func TestRequests(t *testing.T) {
	local, open := newHandler(runOf(events()...), true), newHandler(runOf(events()...), false)
	for _, c := range []struct {
		handler            http.Handler
		method, path, host string
		want               int
	}{
		{local, "GET", "/", "127.0.0.1:8080", 200},
		{local, "GET", "/", "localhost:8080", 200},
		{local, "GET", "/", "[::1]:8080", 200},
		{local, "GET", "/", "localhost", 200},
		{local, "GET", "/page.js", "127.0.0.1:8080", 200},
		{local, "GET", "/", "evil.example:8080", 403}, // a name that leads to this machine
		{local, "GET", "/events", "evil.example", 403},
		{local, "GET", "/", "127.0.0.1.evil.example", 403},
		{open, "GET", "/", "host.example", 200},
		{local, "POST", "/", "localhost", 405},
		{local, "PUT", "/events", "localhost", 405},
		{local, "GET", "/events.jsonl", "localhost", 404},
		{local, "GET", "/../events.jsonl", "localhost", 307},
	} {
		r := httptest.NewRequest(c.method, "http://"+c.host+c.path, nil)
		w := httptest.NewRecorder()
		c.handler.ServeHTTP(w, r)
		if w.Code != c.want && !(c.want == 307 && w.Code == 301) {
			t.Errorf("%s %s of %s: %d, want %d", c.method, c.path, c.host, w.Code, c.want)
		}
		if !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s %s: no policy", c.method, c.path)
		}
	}
}

// TestThePageTakesNothingFromOtherHosts asserts that the page has no address, and its script sets no HTML.
func TestThePageTakesNothingFromOtherHosts(t *testing.T) {
	for name, text := range map[string][]byte{"page.html": page, "page.js": script} {
		if bytes.Contains(text, []byte("//www")) || regexp.MustCompile(`https?:|url\(|@import|src="[^p]`).Match(text) {
			t.Errorf("%s names another host", name)
		}
		if found := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function`).Find(text); found != nil {
			t.Errorf("%s uses %s", name, found)
		}
	}
	if len(page)+len(script) > 20_000 {
		t.Errorf("the page has %d bytes", len(page)+len(script))
	}
}

// serve starts a server and returns its URL. end ends it and returns what Serve returned.
func serve(t *testing.T, address, dir string) (url string, end func() error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- Serve(ctx, address, dir, func(url string) { ready <- url }) }()
	select {
	case url = <-ready:
	case err := <-ended:
		stop()
		t.Fatal(err)
	}
	return strings.TrimSuffix(url, "/"), func() error {
		stop()
		select {
		case err := <-ended:
			return err
		case <-time.After(time.Minute):
			t.Fatal("the server does not end")
			return nil
		}
	}
}

// TestServe serves a folder that grows, and ends while a page is open.
func TestServe(t *testing.T) {
	dir := folder(t, events()...)
	url, end := serve(t, ":0", dir)
	if !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Errorf("without a host the address is %s", url)
	}
	r, err := client.Get(url + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	lines := bufio.NewReader(r.Body)
	text := ""
	for !strings.Contains(text, `"points":[[1,2]`) { // the first message may have one point only
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		text = line
	}
	f, err := os.OpenFile(filepath.Join(dir, "events.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	line, _ := learn.AppendEvent(nil, learn.Warned{Message: "written later"})
	f.Write(line)
	f.Close()
	for !strings.Contains(text, "written later") {
		if text, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

func TestServeReportsMistakes(t *testing.T) {
	ctx := context.Background()
	ready := func(string) { t.Error("it serves") }
	if err := Serve(ctx, ":0", t.TempDir(), ready); err == nil || !strings.Contains(err.Error(), "no run is in this folder") {
		t.Error(err)
	}
	for _, address := range []string{"8080", "localhost:no-such-port", "256.0.0.1:1"} {
		if err := Serve(ctx, address, folder(t), ready); err == nil {
			t.Errorf("%s: no error", address)
		}
	}
}
