package system

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/metric/system/internal/nvml"
	"github.com/burngen/burngen/runtime/metric/system/internal/nvml/fake"
)

func loaded(l *fake.Library) func() (*nvml.API, error) {
	return func() (*nvml.API, error) { return l.API(), nil }
}

// named returns the names of sensors.
func named(sensors []sensor) []string {
	var names []string
	for _, s := range sensors {
		names = append(names, s.series.Name)
	}
	return names
}

// onlyCards returns a Machine that measures the cards of a library only.
func onlyCards(l *fake.Library) *Machine { return newMachine(cards(loaded(l))) }

// TestOneCard asserts numbers, units and that the values move.
func TestOneCard(t *testing.T) {
	library := new(fake.Library)
	library.SetCards(fake.Card{Percent: 97, Used: 40_123_000_000, Celsius: 61, Milliwatts: 412_500})
	m := onlyCards(library)
	want := []learn.Series{{Name: "gpu", Unit: "%", Curve: true}, {Name: "gpu memory", Unit: "MB", Curve: true},
		{Name: "gpu temperature", Unit: "°C", Curve: true}, {Name: "gpu power", Unit: "W", Curve: true}}
	if got := m.Series(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := numbers(m); !slices.Equal(got, []float64{97, 40123, 61, 412.5}) {
		t.Error(got)
	}
	library.SetCards(fake.Card{Percent: 3, Used: 1_000_000, Celsius: 40, Milliwatts: 70_000})
	m.read()
	if got := numbers(m); !slices.Equal(got, []float64{3, 1, 40, 70}) {
		t.Error(got)
	}
}

func numbers(m *Machine) (out []float64) {
	for _, v := range m.Measure() {
		out = append(out, float64(v.Value))
	}
	return out
}

// TestSeveralCards asserts that cards have numbers, and that what a card does not support is not in the list.
func TestSeveralCards(t *testing.T) {
	library := new(fake.Library)
	library.SetCards(
		fake.Card{Percent: 1, Used: 2e6, Celsius: 3, Milliwatts: 4e3},
		fake.Card{Percent: 5, Used: 6e6, Celsius: 7, Milliwatts: 8e3, Fails: map[string]nvml.Result{"nvmlDeviceGetUtilizationRates": nvml.NotSupported}},
		fake.Card{Percent: 9, Used: 10e6, Celsius: 11, Milliwatts: 12e3, Fails: map[string]nvml.Result{
			"nvmlDeviceGetPowerUsage": nvml.NotSupported, "nvmlDeviceGetTemperature": nvml.NotSupported, "nvmlDeviceGetMemoryInfo": nvml.NotSupported}},
	)
	sensors, release := cards(loaded(library))
	defer release()
	want := []string{"gpu 0", "gpu 0 memory", "gpu 0 temperature", "gpu 0 power", "gpu 1 memory", "gpu 1 temperature", "gpu 1 power", "gpu 2"}
	if got := named(sensors); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := numbers(newMachine(sensors, release)); !slices.Equal(got, []float64{1, 2, 3, 4, 6, 7, 8, 9}) {
		t.Error(got)
	}
}

// TestCardFailsLater asserts that the list stays, that only what fails is NaN, and that values come back.
func TestCardFailsLater(t *testing.T) {
	library := new(fake.Library)
	healthy := fake.Card{Percent: 50, Used: 2e6, Celsius: 3, Milliwatts: 4e3}
	library.SetCards(healthy)
	m := onlyCards(library)
	m.Measure()

	broken := healthy
	broken.Fails = map[string]nvml.Result{"nvmlDeviceGetPowerUsage": nvml.Lost}
	library.SetCards(broken)
	m.read()
	if got := numbers(m); len(got) != 4 || !slices.Equal(got[:3], []float64{50, 2, 3}) || !math.IsNaN(got[3]) {
		t.Error(got)
	}
	library.SetCards() // the card is gone
	m.read()
	if got := numbers(m); len(got) != 4 || slices.ContainsFunc(got, func(x float64) bool { return !math.IsNaN(x) }) {
		t.Error(got)
	}
	if got := len(m.Series()); got != 4 {
		t.Errorf("%d series", got)
	}
	library.SetCards(healthy)
	m.read()
	if got := numbers(m); !slices.Equal(got, []float64{50, 2, 3, 4}) {
		t.Error(got)
	}
}

// TestNoCards asserts that the list has no cards if there is no library, driver or card, and that the
// library is left closed.
func TestNoCards(t *testing.T) {
	if sensors, release := cards(noLibrary); len(sensors) != 0 {
		t.Error(named(sensors))
	} else {
		release()
	}
	one := fake.Card{Percent: 1}
	for name, c := range map[string]struct {
		cards []fake.Card
		fails map[string]nvml.Result
	}{
		"no card":   {nil, nil},
		"no driver": {[]fake.Card{one}, map[string]nvml.Result{"nvmlInit_v2": nvml.DriverNotLoaded}},
		"no count":  {[]fake.Card{one}, map[string]nvml.Result{"nvmlDeviceGetCount_v2": nvml.Uninitialized}},
		"no handle": {[]fake.Card{one}, map[string]nvml.Result{"nvmlDeviceGetHandleByIndex_v2": nvml.Lost}},
	} {
		library := &fake.Library{Fails: c.fails}
		library.SetCards(c.cards...)
		sensors, release := cards(loaded(library))
		if len(sensors) != 0 {
			t.Errorf("%s: %v", name, named(sensors))
		}
		release()
		if n := library.Opens(); n != 0 {
			t.Errorf("%s: the library is open %d times", name, n)
		}
	}
}

// TestCardsOfMachine asserts that a Machine lists the cards last, and that Close closes the library.
func TestCardsOfMachine(t *testing.T) {
	library := new(fake.Library)
	library.SetCards(fake.Card{Percent: 12}, fake.Card{Percent: 34})
	m := start("", interval, loaded(library))
	without := start("", interval, func() (*nvml.API, error) { return nil, errors.New("not installed") })
	defer without.Close()
	names := named(m.sensors)
	if got, want := len(names)-8, len(without.sensors); got != want || names[got] != "gpu 0" {
		t.Errorf("%v: %d series before those of two cards, want %d", names, got, want)
	}
	if v := values(m); v["gpu 0"] != 12 || v["gpu 1"] != 34 || library.Opens() != 1 {
		t.Error(v, library.Opens())
	}
	m.Close()
	if n := library.Opens(); n != 0 {
		t.Errorf("the library is open %d times", n)
	}
}
