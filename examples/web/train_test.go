package main

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/internal/browser"
)

// TestTrain trains both networks in the page, until all four answers of exclusive or are right, and until the loss of
// digits has fallen.
func TestTrain(t *testing.T) {
	address, dir := site(t)
	build(t, dir, generates(t, "train/"))
	p := browser.Open(t, address+"/train/")
	p.Resize(900, 700)
	p.Await("!document.querySelector('#run').disabled && document.querySelector('#right').textContent !== '–'", "1")
	if got := p.Eval("document.querySelector('#right').textContent"); !strings.HasSuffix(got, " of 4") {
		t.Errorf("before the first step, %s are right", got)
	}
	p.Click("#run")
	p.Await("document.querySelector('#right').textContent === '4 of 4' && Number(document.querySelector('#loss').textContent) < 0.5", "1")
	keep(t, p, "train-xor.png")
	p.Click("#run")
	p.Click("#run")
	p.Await("document.querySelector('#run').textContent === 'Stop'", "1")
	p.Click("#run")
	p.Await("document.querySelector('#run').textContent === 'Go on'", "1")
	steps := p.Eval("new Promise((done) => setTimeout(() => done(document.querySelector('#steps').textContent), 1000))")
	if again := p.Eval("new Promise((done) => setTimeout(() => done(document.querySelector('#steps').textContent), 1000))"); again != steps {
		t.Errorf("after the stop, steps go on from %s to %s", steps, again)
	}

	p.Click("#tasks :last-child")
	p.Await("document.querySelector('#right').textContent.endsWith(' of 50')", "1")
	p.Click("#run")
	first := p.Await("document.querySelector('#steps').textContent !== '0'", "document.querySelector('#loss').textContent")
	p.Await("Number(document.querySelector('#loss').textContent) < 0.8 * "+first, "1")
	p.Click("#run")
	keep(t, p, "train-digits.png")
	p.Darken()
	narrow(t, p)
	keep(t, p, "train-dark.png")
	quiet(t, p)
}
