package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/burngen/burngen/runtime/rt"
)

// Main is a program that serves models until it gets SIGTERM or an interrupt. It reads flags from
// the command line; -help lists them. On SIGHUP it reads the files of weights again. On SIGTERM or
// an interrupt it becomes not ready, answers the requests that have arrived, and ends within the
// time of -drain. A second signal ends it at once. It exits with 2 for wrong flags, and with 1 if
// it cannot serve.
func Main(models ...Model) {
	p, err := parse(os.Args[1:], models, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	if err := p.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// program holds the values of Main's flags.
type program struct {
	options    Options
	models     []Model
	http, grpc string
	pprof      string
	cert, key  string
	threads    int
	watch      time.Duration
	drain      time.Duration
	// called with the addresses, unless nil, once the program listens
	started func(http, grpc net.Addr)
}

// named holds the values of a flag for the models, keyed by the model's name. The key "" stands for the only model.
type named map[string]string

func (n named) String() string { return "" }

func (n named) Set(text string) error {
	name, file, ok := strings.Cut(text, "=")
	if !ok {
		name, file = "", text
	}
	if file == "" {
		return errors.New("NAME=FILE or FILE expected")
	}
	n[name] = file
	return nil
}

// apply calls `set` for each model that the flag gives a value for. name is the name of the flag. apply returns an
// error if a model does not exist.
func (n named) apply(name string, models []Model, set func(m *Model, file string)) error {
	for model, file := range n {
		found := false
		for i := range models {
			if models[i].Name == model || model == "" && len(models) == 1 {
				set(&models[i], file)
				found = true
			}
		}
		if !found {
			return fmt.Errorf("-%s %s=%s: there is no such model", name, model, file)
		}
	}
	return nil
}

func parse(args []string, models []Model, out io.Writer) (*program, error) {
	p := &program{models: append([]Model{}, models...)}
	o := &p.options
	f := flag.NewFlagSet("server", flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&p.http, "http", ":8080", "answer HTTP on `ADDRESS`")
	f.StringVar(&p.grpc, "grpc", "", "answer gRPC on `ADDRESS`, such as :8081 (default: nowhere)")
	f.StringVar(&p.pprof, "pprof", "", "answer requests for profiles on `ADDRESS`, such as localhost:6060 (default: nowhere)")
	f.IntVar(&o.Sessions, "sessions", 0, "compute `N` requests or batches at once, for each model (default: the number of cores)")
	f.IntVar(&p.threads, "threads", 0, "compute one request with `N` threads at most (default: the number of cores)")
	f.IntVar(&o.MaxBatch, "max-batch", 1, "join requests to batches of up to `N` items; 1 joins none. Do so only if the items of the model's batch do not depend on each other")
	f.DurationVar(&o.MaxDelay, "max-delay", 0, "let a request wait for others for up to `TIME` while a session is idle")
	f.IntVar(&o.MaxQueue, "max-queue", 256, "let up to `N` requests wait for a model; others get the status 429")
	f.Int64Var(&o.MaxBody, "max-body", 64<<20, "refuse requests of more than `N` bytes")
	f.DurationVar(&o.Timeout, "timeout", 30*time.Second, "end requests that take longer than `TIME`")
	f.IntVar(&o.MaxSequences, "max-sequences", 1024, "keep the states of up to `N` sequences of a model")
	f.DurationVar(&o.SequenceTTL, "sequence-ttl", 5*time.Minute, "end a sequence after `TIME` without requests")
	f.BoolVar(&o.Repository, "repository", false, "let clients load and unload models")
	weights, files := named{}, named{}
	f.Var(weights, "weights", "take the weights of a model from a file, `[NAME=]FILE`, now and at each SIGHUP")
	f.Var(files, "file", "load a package that has its weights in a file from `[NAME=]FILE`")
	f.DurationVar(&p.watch, "watch", 0, "look every `TIME` whether the files of -weights have changed, and take them (default: never)")
	f.StringVar(&p.cert, "tls-cert", "", "encrypt, with the certificates in `FILE`; needs -tls-key")
	f.StringVar(&p.key, "tls-key", "", "the private key of -tls-cert, `FILE`")
	token := f.String("token-file", "", "refuse requests without the header 'Authorization: Bearer TOKEN', where `FILE` holds the token")
	origins := f.String("cors", "", "let scripts of pages from these `ORIGINS`, separated by commas, read answers; * stands for all")
	f.StringVar(&o.ClientHeader, "client-header", "", "tell clients apart by the first value of the header `NAME`, such as X-Forwarded-For behind a proxy (default: by address)")
	format := f.String("log", "text", "write a line for each request to standard error, as `FORMAT`: text, json or off")
	f.DurationVar(&p.drain, "drain", 10*time.Second, "end at most `TIME` after SIGTERM")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if (p.cert == "") != (p.key == "") {
		return nil, errors.New("-tls-cert and -tls-key need each other")
	}
	if *token != "" {
		text, err := os.ReadFile(*token)
		if err != nil {
			return nil, fmt.Errorf("-token-file: %w", err)
		}
		if o.Token = strings.TrimSpace(string(text)); o.Token == "" {
			return nil, fmt.Errorf("-token-file: %s is empty", *token)
		}
	}
	if *origins != "" {
		o.Origins = strings.Split(*origins, ",")
	}
	switch *format {
	case "text":
		o.Log = slog.New(slog.NewTextHandler(out, nil))
	case "json":
		o.Log = slog.New(slog.NewJSONHandler(out, nil))
	case "off":
	default:
		return nil, fmt.Errorf("-log %s: text, json or off expected", *format)
	}
	if err := files.apply("file", p.models, func(m *Model, file string) { m.File = file }); err != nil {
		return nil, err
	}
	return p, weights.apply("weights", p.models, func(m *Model, file string) { m.Weights = file })
}

func (p *program) run(ctx context.Context) error {
	if p.threads > 0 {
		rt.Threads(p.threads)
	}
	tracer, sent, err := exporting(ctx)
	if err != nil {
		return fmt.Errorf("traces: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		sent(ctx)
	}()
	p.options.Tracer = tracer
	web, err := p.listen(p.http)
	if err != nil {
		return fmt.Errorf("-http: %w", err)
	}
	defer web.Close()
	s, err := New(p.options, p.models...)
	if err != nil {
		return err
	}
	failed := make(chan error, 2)
	h := s.httpServer()
	open := countConns(h)
	go func() { failed <- h.Serve(web) }()
	g, calls, err := p.serveGRPC(s, failed)
	if err != nil {
		return fmt.Errorf("-grpc: %w", err)
	}
	if p.pprof != "" {
		profiles, err := profiler(p.pprof)
		if err != nil {
			return fmt.Errorf("-pprof: %w", err)
		}
		defer profiles.Close()
	}
	again := make(chan os.Signal, 1)
	notifyReload(again)
	defer signal.Stop(again)
	serving := []any{"http", web.Addr().String()}
	if calls != nil {
		serving = append(serving, "grpc", calls.String())
	}
	s.options.Log.Info("serving", serving...)
	if p.started != nil {
		p.started(web.Addr(), calls)
	}
	stop := s.watch(p.watch)
	defer stop()
	for {
		select {
		case <-again:
			s.Reload() // it logs what fails
		case err := <-failed:
			return err
		case <-ctx.Done():
			return p.end(s, h, open, g)
		}
	}
}

// serveGRPC starts to serve gRPC and returns the server and its address. Without -grpc it does
// nothing and returns nil. It sends errors of serving to the channel `failed`.
func (p *program) serveGRPC(s *Server, failed chan<- error) (*grpc.Server, net.Addr, error) {
	if p.grpc == "" {
		return nil, nil, nil
	}
	l, err := net.Listen("tcp", p.grpc)
	if err != nil {
		return nil, nil, err
	}
	var options []grpc.ServerOption
	if p.cert != "" {
		c, err := p.tls()
		if err != nil {
			l.Close()
			return nil, nil, err
		}
		options = append(options, grpc.Creds(credentials.NewTLS(c)))
	}
	g := s.GRPC(options...)
	go func() {
		if err := g.Serve(l); err != nil {
			failed <- err
		}
	}()
	return g, l.Addr(), nil
}

// lingering is the longest time for which a draining server still accepts connections.
const lingering = time.Second

// end answers the requests that have arrived and ends the servers. `open` is the number of connections of h. Shutdown
// of the HTTP server closes connections that seem idle, although a request may be on its way. So end first gives each
// connection a short time: if a request comes on it, the answer closes the connection.
func (p *program) end(s *Server, h *http.Server, open *atomic.Int64, g *grpc.Server) error {
	s.Drain()
	s.options.Log.Info("draining")
	ctx, cancel := context.WithTimeout(context.Background(), p.drain)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if g != nil {
			g.GracefulStop()
		}
	}()
	for late := time.Now().Add(min(lingering, p.drain/2)); open.Load() > 0 && time.Now().Before(late); {
		time.Sleep(time.Millisecond)
	}
	err := h.Shutdown(ctx)
	select {
	case <-ended:
	case <-ctx.Done():
		if g != nil {
			g.Stop()
		}
		err = ctx.Err()
	}
	if err != nil {
		h.Close()
		return fmt.Errorf("some requests were not answered in %v: %w", p.drain, err)
	}
	s.Close()
	return nil
}

// listen listens on an address, with TLS if p.cert is set.
func (p *program) listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil || p.cert == "" {
		return l, err
	}
	c, err := p.tls()
	if err != nil {
		l.Close()
		return nil, err
	}
	c.NextProtos = []string{"h2", "http/1.1"}
	return tls.NewListener(l, c), nil
}

func (p *program) tls() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(p.cert, p.key)
	if err != nil {
		return nil, fmt.Errorf("-tls-cert: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// httpServer returns an HTTP server with time limits for slow clients.
func (s *Server) httpServer() *http.Server {
	return &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       s.options.Timeout,
		WriteTimeout:      s.options.Timeout + 30*time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.options.Log.Handler(), slog.LevelWarn),
	}
}

// countConns makes h count its connections. It returns their number.
func countConns(h *http.Server) (open *atomic.Int64) {
	open = new(atomic.Int64)
	h.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed, http.StateHijacked:
			open.Add(-1)
		}
	}
	return open
}

func profiler(address string) (io.Closer, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(l)
	return server, nil
}
