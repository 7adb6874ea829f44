// Package web shows a run of training in a browser. The page can only read the run. It loads nothing
// from other hosts.
package web

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/burngen/burngen/runtime/dash/follow"
	"github.com/burngen/burngen/runtime/dash/internal/progress"
)

//go:embed page.html
var page []byte

//go:embed page.js
var script []byte

const (
	interval   = time.Second / 2  // between two looks at the run
	keepAlive  = 15 * time.Second // after this time without news, a client gets a comment
	patience   = 10 * time.Second // a client that takes nothing for this time is dropped
	maxClients = 64
	maxHeader  = 16 << 10 // bytes of a request's header
)

// Serve shows the run in folder dir on a web page, until the context is done. The page is at a TCP
// address such as ":8080". Without a host in the address, only this machine can reach it. Serve
// calls ready with the URL when the page can be opened. It returns an error if dir has no run, or
// if the address cannot be used.
func Serve(ctx context.Context, address, dir string, ready func(url string)) error {
	source, err := follow.Open(dir)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if host == "" {
		host = "127.0.0.1"
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	run := progress.New()
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		source.Follow(ctx, interval, run)
	}()
	own, _ := listener.Addr().(*net.TCPAddr)
	server := &http.Server{
		Handler: newHandler(run, own != nil && own.IP.IsLoopback()), BaseContext: func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: patience, IdleTimeout: time.Minute, MaxHeaderBytes: maxHeader,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	ready("http://" + listener.Addr().String() + "/")
	select {
	case err = <-served:
	case <-ctx.Done():
		err = nil
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(late) != nil {
			server.Close()
		}
	}
	stop()
	<-followed
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// newHandler returns the handler of the page. If local is true, it refuses a request whose Host
// header is not this machine. A page of another host then cannot read the run by DNS rebinding.
func newHandler(run *progress.Run, local bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", static("text/html; charset=utf-8", page))
	mux.HandleFunc("GET /page.js", static("text/javascript; charset=utf-8", script))
	clients := make(chan struct{}, maxClients)
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		select {
		case clients <- struct{}{}:
			defer func() { <-clients }()
			stream(w, r, run)
		default:
			http.Error(w, "too many pages show this run", http.StatusServiceUnavailable)
		}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		if local && !isLocal(r.Host) {
			http.Error(w, "this page is for its own machine only", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// isLocal reports whether a Host header is a name or address of this machine.
func isLocal(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

func static(kind string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Write(body)
	}
}

// stream sends updates of the page until the client disconnects. They are server-sent events (HTML
// Standard, section 9.2).
func stream(w http.ResponseWriter, r *http.Request, run *progress.Run) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	var cursor progress.Cursor
	before, sent := "", time.Time{}
	for {
		m := messageOf(run, &cursor)
		text, err := json.Marshal(m)
		if err != nil {
			return // no number of a message is NaN or infinite
		}
		switch {
		case string(text) != before:
			if len(m.Curves) == 0 {
				before = string(text)
			}
			text = append(append([]byte("data: "), text...), "\n\n"...)
		case time.Since(sent) > keepAlive:
			text = []byte(":\n\n")
		default:
			text = nil
		}
		if text != nil {
			out.SetWriteDeadline(time.Now().Add(patience))
			if _, err := w.Write(text); err != nil || out.Flush() != nil {
				return
			}
			sent = time.Now()
		}
		select {
		case <-r.Context().Done():
			return
		case <-ticks.C:
		}
	}
}

// message is an update of the page. It has all texts again. Of the curves, it has only the points
// that the page does not have yet.
type message struct {
	Generation int    `json:"generation"`
	Name       string `json:"name"`
	Position   string `json:"position"`
	// finished fraction of the epoch; -1 if unknown
	Done    float64  `json:"done"`
	Speed   string   `json:"speed"`
	Columns []string `json:"columns"`
	// name, a value for each column, best value
	Rows     [][]string `json:"rows"`
	Readings []string   `json:"readings"`
	Tabs     []string   `json:"tabs"`
	Log      []line     `json:"log"`
	Curves   []points   `json:"curves"`
}

type line struct {
	Kind progress.Kind `json:"kind"`
	Text string        `json:"text"`
}

type points struct {
	Tab    string       `json:"tab"`
	Split  string       `json:"split"`
	Whole  bool         `json:"whole"` // replaces the points that were sent
	Points [][2]float64 `json:"points"`
}

const maxLog = 100

func messageOf(run *progress.Run, cursor *progress.Cursor) message {
	all := run.Since(cursor)
	f := run.Frame(progress.Tab{}, maxLog)
	m := message{Generation: f.Generation, Name: f.Started.Run, Position: f.Position(), Done: -1}
	if !f.HasStarted {
		m.Name, m.Position = "waiting for a run", ""
	}
	if done, ok := f.Fraction(); ok {
		m.Done = done
	}
	if f.Speed > 0 {
		m.Speed = progress.Count(f.Speed) + " items/s"
	}
	if f.Left >= 0 {
		m.Speed += "  eta " + progress.Clock(f.Left)
	}
	if f.Stopped != nil {
		m.Position, m.Speed = "stopped: "+progress.Clean(f.Stopped.Reason, 1024), ""
	}
	splits := f.Splits()
	for _, s := range splits {
		m.Columns = append(m.Columns, string(s))
	}
	for _, row := range f.Rows {
		cells := []string{row.Name}
		for _, s := range splits {
			cells = append(cells, row.Text(s))
		}
		m.Rows = append(m.Rows, append(cells, row.BestText()))
	}
	m.Readings = f.Readings()
	for _, t := range f.Tabs {
		m.Tabs = append(m.Tabs, nameOf(t))
	}
	for _, l := range f.Log {
		m.Log = append(m.Log, line{l.Kind, l.String()})
	}
	for _, p := range all {
		out := points{Tab: nameOf(p.Tab), Split: string(p.Split), Whole: p.Whole}
		for _, v := range p.Points {
			out.Points = append(out.Points, [2]float64{v.X, v.Mean})
		}
		m.Curves = append(m.Curves, out)
	}
	return m
}

func nameOf(t progress.Tab) string {
	if t.Of == "" {
		return t.Name
	}
	return fmt.Sprintf("%s (%s)", t.Name, t.Of)
}
