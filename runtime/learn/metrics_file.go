package learn

import (
	"encoding/csv"
	"strconv"
)

// newMetricsLogger returns the logger of metrics.csv, a table of all values of epochs and
// validations. Epochs are numbered from 1.
func newMetricsLogger() Logger {
	return &tapeLogger{name: "metrics.csv", head: "epoch,step,split,name,value\n", put: func(t *tape, e Event) error {
		m, ok := e.(Measured)
		if !ok || m.Split == System {
			return nil
		}
		w := csv.NewWriter(t)
		for _, v := range m.Values {
			w.Write([]string{strconv.Itoa(m.Epoch + 1), strconv.Itoa(m.Step), string(m.Split), v.Name, strconv.FormatFloat(float64(v.Value), 'g', -1, 64)})
		}
		w.Flush()
		return w.Error()
	}}
}
