package browser

// Resize gives the window another size, in CSS pixels.
func (p *Page) Resize(width, height int) {
	p.t.Helper()
	p.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Darken makes the page believe that its user prefers dark colours.
func (p *Page) Darken() {
	p.t.Helper()
	features := []any{map[string]any{"name": "prefers-color-scheme", "value": "dark"}}
	p.call("Emulation.setEmulatedMedia", map[string]any{"features": features}, nil)
}

// Screenshot returns what the window shows, as a PNG file.
func (p *Page) Screenshot() []byte {
	p.t.Helper()
	var r struct{ Data []byte }
	p.call("Page.captureScreenshot", map[string]any{"format": "png"}, &r)
	return r.Data
}
