package browser

import "encoding/json"

// Point is a place in the window, in CSS pixels from its left upper corner.
type Point struct{ X, Y float64 }

// In returns the place at the shares x and y of the width and the height of an element. The element is the first one
// that a selector finds; it is scrolled into view.
func (p *Page) In(selector string, x, y float64) Point {
	p.t.Helper()
	quoted, _ := json.Marshal(selector) // a string has no error
	text := p.Eval("(() => { const e = document.querySelector(" + string(quoted) + "); e.scrollIntoView({ block: 'nearest' }); return JSON.stringify(e.getBoundingClientRect()); })()")
	var box struct{ X, Y, Width, Height float64 }
	if err := json.Unmarshal([]byte(text), &box); err != nil {
		p.t.Fatalf("%s: %v", selector, err)
	}
	return Point{box.X + x*box.Width, box.Y + y*box.Height}
}

// Drag presses the left button of the mouse at the first point, moves the mouse through the others, and releases the
// button at the last one.
func (p *Page) Drag(points ...Point) {
	p.t.Helper()
	mouse := func(kind string, at Point, buttons int) {
		p.t.Helper()
		p.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "buttons": buttons, "clickCount": 1}, nil)
	}
	mouse("mousePressed", points[0], 1)
	for _, at := range points[1:] {
		mouse("mouseMoved", at, 1)
	}
	mouse("mouseReleased", points[len(points)-1], 0)
}

// Click clicks into the middle of the first element that a selector finds.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.Drag(p.In(selector, 0.5, 0.5))
}

// Choose gives files to the first element that a selector finds, an input of type file.
func (p *Page) Choose(selector string, paths ...string) {
	p.t.Helper()
	quoted, _ := json.Marshal(selector)
	var r struct{ Result struct{ ObjectID string } }
	p.call("Runtime.evaluate", map[string]any{"expression": "document.querySelector(" + string(quoted) + ")"}, &r)
	p.call("DOM.setFileInputFiles", map[string]any{"files": paths, "objectId": r.Result.ObjectID}, nil)
}

// Drop drags files from outside of the browser and drops them at a place.
func (p *Page) Drop(at Point, paths ...string) {
	p.t.Helper()
	const copying = 1
	data := map[string]any{"items": []any{}, "files": paths, "dragOperationsMask": copying}
	for _, kind := range []string{"dragEnter", "dragOver", "drop"} {
		p.call("Input.dispatchDragEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "data": data}, nil)
	}
}
