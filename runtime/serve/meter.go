package serve

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

type meter struct {
	registry                 *prometheus.Registry
	requests                 *prometheus.CounterVec
	whole, waited, computed  *prometheus.HistogramVec
	items                    *prometheus.HistogramVec
	batches                  *prometheus.CounterVec
	received, sent, swaps    *prometheus.CounterVec
	waiting, sequences, live *prometheus.GaugeVec
}

func newMeter() *meter {
	m := &meter{registry: prometheus.NewRegistry()}
	seconds := prometheus.ExponentialBuckets(25e-6, 2, 20) // up to 13 s
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "burngen_" + name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "burngen_" + name, Help: help, Buckets: buckets}, []string{"model"})
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "burngen_" + name, Help: help}, []string{"model"})
	}
	m.requests = counter("requests_total", "Requests of inference, by model and status of HTTP.", "model", "code")
	m.whole = histogram("request_seconds", "Time from the request's header to the encoded answer.", seconds)
	m.waited = histogram("queue_seconds", "Time for which a request waited for a session.", seconds)
	m.computed = histogram("compute_seconds", "Time for which a session computed the batch of a request.", seconds)
	m.items = histogram("batch_items", "Items of a batch.", prometheus.ExponentialBuckets(1, 2, 11))
	m.batches = counter("batches_total", "Batches, by why they did not wait longer: full, delay or idle.", "model", "reason")
	m.received = counter("received_bytes_total", "Bytes of the bodies of requests of inference.", "model")
	m.sent = counter("sent_bytes_total", "Bytes of the bodies of answers.", "model")
	m.swaps = counter("loads_total", "Loads of a model or of new weights, by outcome: ok or failed.", "model", "outcome")
	m.waiting = gauge("queue_requests", "Requests that wait for a session.")
	m.sequences = gauge("sequences", "Sequences with states.")
	m.live = gauge("ready", "1 if the model is loaded, else 0.")
	m.registry.MustRegister(m.requests, m.whole, m.waited, m.computed, m.items, m.batches, m.received, m.sent, m.swaps, m.waiting, m.sequences, m.live,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// handler returns the page of metrics. For each request it first calls the function `before`, which
// sets the gauges.
func (m *meter) handler(before func()) http.Handler {
	page := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before()
		page.ServeHTTP(w, r)
	})
}

func (m *meter) batch(model string, why reason, items int) {
	m.batches.WithLabelValues(model, string(why)).Inc()
	m.items.WithLabelValues(model).Observe(float64(items))
}

func (m *meter) request(e *exchange) {
	m.requests.WithLabelValues(e.model, strconv.Itoa(e.status)).Inc()
	m.whole.WithLabelValues(e.model).Observe(e.took.Seconds())
	m.received.WithLabelValues(e.model).Add(float64(e.received))
	m.sent.WithLabelValues(e.model).Add(float64(e.sent))
	if e.computed > 0 {
		m.waited.WithLabelValues(e.model).Observe(e.waited.Seconds())
		m.computed.WithLabelValues(e.model).Observe(e.computed.Seconds())
	}
}
