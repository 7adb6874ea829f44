package browser

import (
	"bytes"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// serve serves files of the given texts.
func serve(t *testing.T, files map[string]string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", map[string]string{"": "text/html", ".js": "text/javascript"}[filepath.Ext(r.URL.Path)])
		w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	return s
}

// TestPage uses a page with mouse and files, and looks at it.
func TestPage(t *testing.T) {
	s := serve(t, map[string]string{"/": `<!doctype html>
<link rel="icon" href="data:,">
<style>
  body { margin: 0; background: #fff; }
  @media (prefers-color-scheme: dark) { body { background: #00f; } }
  div { height: 100px; width: 200px; background: #f00; }
</style>
<div></div><input type="file">
<script>
  const seen = [], div = document.querySelector('div'), input = document.querySelector('input');
  for (const kind of ['pointerdown', 'pointermove', 'pointerup', 'click']) {
    div.addEventListener(kind, (e) => kind === 'pointermove' && e.buttons === 0 || seen.push([kind, e.clientX, e.clientY, e.buttons].join(' ')));
  }
  const read = async (files) => { for (const f of files) { seen.push(f.name + ': ' + await f.text()); } };
  input.onchange = () => read(input.files);
  div.ondragover = (e) => e.preventDefault();
  div.ondrop = (e) => { e.preventDefault(); read(e.dataTransfer.files); };
</script>`})
	p := Open(t, s.URL)
	p.Resize(300, 200)
	p.Await("document.readyState === 'complete'", "1")
	p.Drag(p.In("div", 0.5, 0.5), p.In("div", 0.75, 0.25))
	p.Click("div")
	want := "pointerdown 100 50 1,pointermove 150 25 1,pointerup 150 25 0,click 150 25 0," +
		"pointerdown 100 50 1,pointerup 100 50 0,click 100 50 0"
	if got := p.Eval("seen.splice(0).join()"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	file := filepath.Join(t.TempDir(), "note.txt")
	if err := os.WriteFile(file, []byte("words"), 0o666); err != nil {
		t.Fatal(err)
	}
	p.Choose("input", file)
	p.Drop(p.In("div", 0.5, 0.5), file)
	if got := p.Await("seen.length === 2", "seen.join()"); got != "note.txt: words,note.txt: words" {
		t.Error(got)
	}
	p.Darken()
	m, err := png.Decode(bytes.NewReader(p.Screenshot()))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Bounds().Size(); got.X != 300 || got.Y != 200 {
		t.Errorf("the screenshot has size %v", got)
	}
	red, blue := color.RGBA{R: 255, A: 255}, color.RGBA{B: 255, A: 255}
	if a, b := color.RGBAModel.Convert(m.At(10, 10)), color.RGBAModel.Convert(m.At(290, 190)); a != red || b != blue {
		t.Errorf("colours %v and %v", a, b)
	}
	p.Eval("setTimeout(() => { location.search = 'again'; })")
	p.Await("location.search === '?again' && document.readyState === 'complete'", "1")
	p.Visit(s.URL)
	p.Await("location.search === '' && seen.length === 0", "1")
	if problems := p.Problems(); len(problems) > 0 {
		t.Errorf("problems %q", problems)
	}
}

// TestProblems shows a page and a worker that do all that is a problem.
func TestProblems(t *testing.T) {
	const script = `
const at = %q;
console.error('one', 2);
fetch('missing.txt').catch(() => {});
fetch('http://other.invalid/' + at).catch(() => {});
setTimeout(() => { throw new Error('thrown by ' + at); });`
	s := serve(t, map[string]string{
		"/":          `<!doctype html><link rel="icon" href="data:,"><script src="page.js"></script>`,
		"/page.js":   strings.Replace(script, "%q", "'page'", 1) + "\nnew Worker('worker.js');",
		"/worker.js": strings.Replace(script, "%q", "'worker'", 1),
	})
	p := Open(t, s.URL)
	for _, want := range []string{"error: [{one", "missing.txt", "request to http://other.invalid/page", "thrown by page", "request to http://other.invalid/worker", "thrown by worker"} {
		found := func() bool {
			return slices.ContainsFunc(p.Problems(), func(text string) bool { return strings.Contains(text, want) })
		}
		for range 600 {
			if found() {
				break
			}
			p.Eval("new Promise((done) => setTimeout(done, 100))")
		}
		if !found() {
			t.Errorf("no problem with %q in %q", want, p.Problems())
		}
	}
}
