// Package report reads the folders of runs, and shows and compares them: [HTML] makes one page that needs no
// other file and no network, and [Compare] compares the metrics of two runs.
package report
