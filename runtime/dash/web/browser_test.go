package web

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/burngen/burngen/internal/browser"
)

// TestInABrowser reads values of curves in the page, chooses another metric, and asserts that hostile texts
// stay texts.
func TestInABrowser(t *testing.T) {
	dir := folder(t, events()...)
	url, end := serve(t, "127.0.0.1:0", dir)
	b := browser.Open(t, url)
	if got := b.Await("document.querySelector('polyline.valid') && document.querySelector('polyline.train').dataset.x === '15'", "document.querySelector('polyline.valid').dataset.y"); got != "0.25" {
		t.Errorf("the last loss of validation is %s", got)
	}
	if got := b.Await("document.querySelector('polyline.train')", "['x', 'y', 'count'].map(k => document.querySelector('polyline.train').dataset[k]).join()"); got != "15,0.13333333333333333,15" {
		t.Errorf("the curve of training ends with %s", got)
	}
	if got := b.Await("true", "document.querySelectorAll('img').length + document.title"); !strings.HasPrefix(got, "0mnist</script><img") {
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
	if got := b.Await("document.querySelector('polyline.train').dataset.x === '18'", "document.querySelector('polyline.train').dataset.count"); got != "18" {
		t.Errorf("%s points after three more", got)
	}
	b.Await("document.querySelectorAll('#tabs button')[1].click() || true", "1")
	if got := b.Await("document.querySelector('polyline.valid')?.dataset.y === '7'", "document.querySelector('#position').textContent"); got != "epoch 2/2 · batch 8/10" {
		t.Errorf("position %q", got)
	}
	if problems := b.Problems(); len(problems) > 0 {
		t.Errorf("problems %q", problems)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	b.Await("document.querySelector('#speed').textContent === 'no connection'", "1")
}
