//go:build unix

package web

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// browser is a headless Chromium that is driven through pipes, with the Chrome DevTools Protocol: JSON
// that ends with a zero byte.
type browser struct {
	*testing.T
	in      *os.File
	out     *bufio.Reader
	calls   int
	session string
}

// newBrowser starts Chromium, or skips the test if it is not there.
func newBrowser(t *testing.T) *browser {
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
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{childIn, childOut}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	childIn.Close()
	childOut.Close()
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		in.Close()
		out.Close()
	})
	out.SetReadDeadline(time.Now().Add(2 * time.Minute))
	return &browser{T: t, in: in, out: bufio.NewReader(out)}
}

// call calls a method of the protocol and decodes its result.
func (b *browser) call(method string, params map[string]any, result any) {
	b.Helper()
	b.calls++
	request := map[string]any{"id": b.calls, "method": method, "params": params}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		b.Fatal(err)
	}
	for {
		text, err := b.out.ReadBytes(0)
		if err != nil {
			b.Fatalf("%s: %v", method, err)
		}
		var answer struct {
			ID     int
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(text[:len(text)-1], &answer); err != nil {
			b.Fatal(err)
		}
		if answer.ID != b.calls {
			continue // an event
		}
		if answer.Error != nil {
			b.Fatalf("%s: %s", method, answer.Error)
		}
		if err := json.Unmarshal(answer.Result, result); err != nil {
			b.Fatal(err)
		}
		return
	}
}

// open shows a page.
func (b *browser) open(url string) {
	b.Helper()
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": url}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
}

// await evaluates an expression until it is true, and then returns the text of another one.
func (b *browser) await(condition, text string) string {
	b.Helper()
	var last string
	for range 300 {
		var r struct {
			Result           struct{ Value string }
			ExceptionDetails json.RawMessage
		}
		b.call("Runtime.evaluate", map[string]any{"expression": fmt.Sprintf("(%s) ? 'yes' + (%s) : 'no'", condition, text), "returnByValue": true}, &r)
		if rest, ok := strings.CutPrefix(r.Result.Value, "yes"); ok {
			return rest
		}
		last = string(r.ExceptionDetails)
		time.Sleep(200 * time.Millisecond)
	}
	b.Fatalf("%s is not true; %s", condition, last)
	return ""
}

// TestInABrowser reads values of curves in the page, chooses another metric, and asserts that hostile texts
// stay texts.
func TestInABrowser(t *testing.T) {
	dir := folder(t, events()...)
	url, end := serve(t, "127.0.0.1:0", dir)
	b := newBrowser(t)
	b.open(url)
	if got := b.await("document.querySelector('polyline.valid') && document.querySelector('polyline.train').dataset.x === '15'", "document.querySelector('polyline.valid').dataset.y"); got != "0.25" {
		t.Errorf("the last loss of validation is %s", got)
	}
	if got := b.await("document.querySelector('polyline.train')", "['x', 'y', 'count'].map(k => document.querySelector('polyline.train').dataset[k]).join()"); got != "15,0.13333333333333333,15" {
		t.Errorf("the curve of training ends with %s", got)
	}
	if got := b.await("true", "document.querySelectorAll('img').length + document.title"); !strings.HasPrefix(got, "0mnist</script><img") {
		t.Errorf("images and title: %s", got)
	}
	f, err := os.OpenFile(dir+"/events.jsonl", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := 15; i < 18; i++ {
		fmt.Fprintf(f, `{"event":"stepped","split":"train","epoch":1,"batch":%d,"step":%d,"items":4,"loss":0.5}`+"\n", i-10, i+1)
	}
	f.Close()
	if got := b.await("document.querySelector('polyline.train').dataset.x === '18'", "document.querySelector('polyline.train').dataset.count"); got != "18" {
		t.Errorf("%s points after three more", got)
	}
	b.await("document.querySelectorAll('#tabs button')[1].click() || true", "1")
	if got := b.await("document.querySelector('polyline.valid')?.dataset.y === '7'", "document.querySelector('#position').textContent"); got != "epoch 2/2 · batch 8/10" {
		t.Errorf("position %q", got)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	b.await("document.querySelector('#speed').textContent === 'no connection'", "1")
}
