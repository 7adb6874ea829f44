// Package report reads the folders of runs, and shows and compares them: [HTML] makes one page that needs no
// other file and no network, and [Compare] makes a table of what got better and what got worse.
package report
