package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// page is what RESULTS-SERVE.md says.
type page struct {
	options
	processor, load string
	results         []*result
	rest, grpc      *unary
	swapping        *swapping
	soaking         *soaking
}

func newPage(o options) *page {
	p := &page{options: o, processor: "an unknown processor", load: "unknown"}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
				p.processor = strings.TrimSpace(value)
				break
			}
		}
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		p.load, _, _ = strings.Cut(string(text), " ")
	}
	return p
}

func (p *page) text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# What serve measured

`+"`go run ./serve`"+` in `+"`bench`"+` wrote this page on %s.

%s, %d processors, %s/%s. %s, node %s, ONNX Runtime %s. The load average was %s when the run began. If it is
not near 0, other work took a share of both processors: compare the ratios, of servers that took turns, and not the times.

Each server has one processor, and the load has another. A request has binary tensors over REST. Its sender waits for
the answer, and then sends the next one. Connections are used again.

## Servers under load

Medians of %d turns of %v. `+"`ratio`"+` is the number of requests divided by node's in the same round. `+"`processor`"+` is the
server's processor time for a request, which depends less on other work. `+"`MB`"+` is the peak of resident memory. `+"`first answer`"+`
is the median time from the start of a process to its first answer, of %d processes. The answers of all servers of a model
are the same up to the share `+"`rms`"+` of their root mean square.

| model | connections | server | requests/s | ratio | p50 ms | p99 ms | processor µs | ratio | MB | first answer ms | rms |
|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
`, time.Now().UTC().Format("2006-01-02"), p.processor, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), command("node", "--version"), onnxRuntime(), p.load,
		p.rounds, p.turn, p.starts)
	for _, r := range p.results {
		b.WriteString(p.rows(r))
	}
	if p.rest != nil && p.grpc != nil {
		b.WriteString("\n## One request at a time\n\nDigits, over one connection. `over Forward` is the median without the mean time that a session computes: the work of the server,\nof the client and of the system. `processor` is the processor time of the server, also without it.\n\n| protocol | least µs | median µs | Forward µs | over Forward µs | processor µs |\n|---|--:|--:|--:|--:|--:|\n")
		for _, c := range []struct {
			name string
			u    *unary
		}{{"REST, binary tensors", p.rest}, {"gRPC, raw contents", p.grpc}} {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", c.name, micro(c.u.Least), micro(c.u.Median), micro(c.u.Forward), micro(c.u.over()), micro(c.u.Processor))
		}
	}
	if s := p.swapping; s != nil {
		fmt.Fprintf(&b, "\n## New weights and SIGTERM under load\n\n%d requests on 8 connections ran while the server took new weights %d times and then got SIGTERM. A sender stops at an\nanswer that closes its connection. %d requests had no answer of status 200. The process ended %.0f ms after SIGTERM.\n", s.Requests, s.Swaps, s.Failed, ms(s.Drained))
		if s.Failed > 0 {
			fmt.Fprintf(&b, "The first one failed so: `%s`.\n", s.Failure)
		}
	}
	if s := p.soaking; s != nil {
		fmt.Fprintf(&b, "\n## A long load\n\n%d requests in %v on 8 connections; %d failed. What the server held, at most, in the second and in the last sixth of the time:\n\n| | live MB | heap MB | goroutines | resident MB |\n|---|--:|--:|--:|--:|\n", s.Requests, s.Took, s.Failed)
		for _, h := range []struct {
			name string
			held
		}{{"second sixth", s.Early}, {"last sixth", s.Late}} {
			fmt.Fprintf(&b, "| %s | %.1f | %.1f | %.0f | %.1f |\n", h.name, h.Live/1e6, h.Heap/1e6, h.Goroutines, h.Resident/1e6)
		}
	}
	return b.Bytes()
}

// rows returns the rows of a case in the table of servers.
func (p *page) rows(r *result) string {
	var b strings.Builder
	for i, s := range r.sides {
		var rates, ratios, p50, p99, busy, saved []float64
		for k, turn := range s.rounds {
			node := r.sides[0].rounds[k]
			rates, ratios = append(rates, turn.perSecond()), append(ratios, turn.perSecond()/node.perSecond())
			p50, p99 = append(p50, ms(turn.quantile(.5))), append(p99, ms(turn.quantile(.99)))
			busy, saved = append(busy, 1000*ms(turn.processor)), append(saved, float64(node.processor)/float64(turn.processor))
		}
		ratio, less, rms := "", "", ""
		if i > 0 {
			ratio, less = fmt.Sprintf("%.2f", median(ratios)), fmt.Sprintf("%.2f", median(saved))
		} else {
			rms = fmt.Sprintf("%.0e", r.rms)
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %.2f | %.2f | %.0f | %s | %.0f | %.0f | %s |\n", r.name, r.conns, s.name, rate(median(rates)), ratio,
			median(p50), median(p99), median(busy), less, float64(r.memory[i])/1e6, ms(median(s.starts)), rms)
	}
	return b.String()
}

func rate(perSecond float64) string {
	if perSecond < 100 {
		return fmt.Sprintf("%.1f", perSecond)
	}
	return fmt.Sprintf("%.0f", perSecond)
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

func micro(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/1e3) }

func median[T float64 | time.Duration](list []T) T {
	if len(list) == 0 {
		return 0
	}
	list = slices.Clone(list)
	slices.Sort(list)
	return list[len(list)/2]
}

func command(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// onnxRuntime returns the version of the installed npm package of ONNX Runtime.
func onnxRuntime() string {
	var m struct{ Version string }
	text, err := os.ReadFile(filepath.Join("node_modules", "onnxruntime-node", "package.json"))
	if err != nil || json.Unmarshal(text, &m) != nil {
		return "unknown"
	}
	return m.Version
}
