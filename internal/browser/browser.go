// Package browser shows pages in a headless Chromium, for tests. It speaks the Chrome DevTools Protocol through pipes.
package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// patience is how long a call or a condition may take on a busy machine.
const patience = 2 * time.Minute

// Page is a page in a browser of its own. A method that fails ends the test.
type Page struct {
	t       testing.TB
	in, out *os.File
	answers *bufio.Reader // JSON texts that end with a zero byte
	calls   int
	session string // of the page; calls without one are for the browser
	// host of the page; requests to others are problems
	host     string
	problems []string
}

// Open starts Chromium and shows the page at an address. The browser ends with the test. Open skips the test if
// Chromium is not installed or does not start.
func Open(t testing.TB, address string) *Page {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	p := start(t)
	p.host = at.Host
	var target struct{ TargetID string }
	p.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	p.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p.session = attached.SessionID
	for _, method := range watched {
		p.call(method, nil, nil)
	}
	p.call("Target.setAutoAttach", map[string]any{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}, nil)
	p.Visit(address)
	return p
}

// Visit shows another page.
func (p *Page) Visit(address string) {
	p.t.Helper()
	p.call("Page.navigate", map[string]any{"url": address}, nil)
}

// start starts Chromium.
func start(t testing.TB) *Page {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no chromium")
	}
	childIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "browser")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // processes of the browser may write for a moment after it was killed
		for start := time.Now(); os.RemoveAll(profile) != nil && time.Since(start) < 10*time.Second; {
			time.Sleep(50 * time.Millisecond)
		}
	})
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{childIn, childOut}
	err = cmd.Start()
	childIn.Close()
	childOut.Close()
	t.Cleanup(func() {
		if err == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
		in.Close()
		out.Close()
	})
	if err != nil {
		t.Skip(err)
	}
	return &Page{t: t, in: in, out: out, answers: bufio.NewReader(out)}
}

// watched are the calls after which the browser tells of errors and requests.
var watched = []string{"Runtime.enable", "Log.enable", "Network.enable"}

// message is what the browser sends: the answer to a call, or an event.
type message struct {
	ID            int
	Result, Error json.RawMessage
	Method        string
	Params        json.RawMessage
}

// call calls a method of the protocol. It decodes the result if result is not nil.
func (p *Page) call(method string, params map[string]any, result any) {
	p.t.Helper()
	if problem := p.ask(method, params, result); problem != "" {
		p.t.Fatalf("%s: %s", method, problem)
	}
}

// ask is like call, but returns the browser's error.
func (p *Page) ask(method string, params map[string]any, result any) (problem string) {
	p.t.Helper()
	id := p.send(p.session, method, params)
	p.out.SetReadDeadline(time.Now().Add(patience))
	for {
		text, err := p.answers.ReadBytes(0)
		if err != nil {
			p.t.Fatalf("%s: %v", method, err)
		}
		var m message
		if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
			p.t.Fatal(err)
		}
		switch {
		case m.Method != "":
			p.happened(m.Method, m.Params)
		case m.ID != id: // the answer to a call for a worker
		case m.Error != nil || result == nil:
			return string(m.Error)
		default:
			if err := json.Unmarshal(m.Result, result); err != nil {
				p.t.Fatal(err)
			}
			return ""
		}
	}
}

// send sends a call and returns its number.
func (p *Page) send(session, method string, params map[string]any) int {
	p.t.Helper()
	p.calls++
	request := map[string]any{"id": p.calls, "method": method, "params": params}
	if session != "" {
		request["sessionId"] = session
	}
	text, err := json.Marshal(request)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.in.Write(append(text, 0)); err != nil {
		p.t.Fatal(err)
	}
	return p.calls
}

// happened notes what an event of the page or of its workers says.
func (p *Page) happened(method string, params json.RawMessage) {
	p.t.Helper()
	var e struct {
		SessionID        string // of a worker that waits
		Type             string
		Request, Entry   struct{ URL, Level, Text string }
		Args             []struct{ Value, Description any }
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if err := json.Unmarshal(params, &e); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
	switch method {
	case "Target.attachedToTarget":
		if e.SessionID != p.session {
			for _, method := range append(watched, "Runtime.runIfWaitingForDebugger") {
				p.send(e.SessionID, method, nil)
			}
		}
	case "Network.requestWillBeSent":
		at, err := url.Parse(e.Request.URL)
		if err != nil || at.Host != p.host && at.Host != "" {
			p.problems = append(p.problems, "request to "+e.Request.URL)
		}
	case "Runtime.consoleAPICalled":
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			p.problems = append(p.problems, fmt.Sprint(e.Type, ": ", e.Args))
		}
	case "Runtime.exceptionThrown":
		p.problems = append(p.problems, e.ExceptionDetails.Text+" "+e.ExceptionDetails.Exception.Description)
	case "Log.entryAdded":
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			p.problems = append(p.problems, e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// Problems returns the problems of the page and of its workers until now: errors and warnings in the console,
// exceptions that nothing caught, and requests to other hosts.
func (p *Page) Problems() []string {
	p.t.Helper()
	p.Eval("''") // events before its answer have arrived
	return p.problems
}

// Eval returns the text that an expression of JavaScript has as its value. It waits if the value is a promise.
func (p *Page) Eval(expression string) string {
	p.t.Helper()
	text, problem := p.evaluate(expression)
	if problem != "" {
		p.t.Fatalf("%s: %s", expression, problem)
	}
	return text
}

// evaluate is [Page.Eval] for an expression that may fail, as it does while the page is replaced by another one.
func (p *Page) evaluate(expression string) (text, problem string) {
	p.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	problem = p.ask("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	return fmt.Sprint(r.Result.Value), problem + string(r.ExceptionDetails)
}

// Await evaluates a condition until it is true, and returns the text of another expression. Both are evaluated
// together.
func (p *Page) Await(condition, expression string) string {
	p.t.Helper()
	last := ""
	for start := time.Now(); time.Since(start) < patience; time.Sleep(100 * time.Millisecond) {
		var text string
		text, last = p.evaluate(fmt.Sprintf("(%s) ? 'yes' + (%s) : 'no'", condition, expression))
		if rest, ok := strings.CutPrefix(text, "yes"); ok {
			return rest
		}
	}
	p.t.Fatalf("%s is not true; %s; problems: %q", condition, last, p.problems)
	return ""
}
