package main

import (
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/tokenstream/source"
)

// progress shows how far a job is: a bar on a terminal, otherwise a line now and then. It works inside the sequences it watches and
// starts no goroutine.
type progress struct {
	w       io.Writer
	files   *source.Files
	bar     *progressbar.ProgressBar // nil if w is no terminal
	quiet   bool
	start   time.Time
	next    time.Time
	samples int64
	tokens  int64
	stats   *tokenstream.Stats // of the split at hand
}

// How often progress is shown.
const (
	barEvery  = 100 * time.Millisecond
	lineEvery = 10 * time.Second
)

func newProgress(w io.Writer, files *source.Files, quiet bool) *progress {
	p := &progress{w: w, files: files, quiet: quiet, start: time.Now()}
	p.next = p.start.Add(lineEvery)
	file, ok := w.(*os.File)
	if ok && term.IsTerminal(int(file.Fd())) && !quiet {
		total := files.Size()
		if total == 0 {
			total = -1
		}
		p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(w), progressbar.OptionShowBytes(true),
			progressbar.OptionSetPredictTime(true), progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetDescription("packing"))
		p.next = p.start
	}
	return p
}

// watch passes samples on and counts them.
func (p *progress) watch(src tokenstream.Source) tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		for s, err := range src {
			p.samples++
			p.tokens += int64(len(s.Tokens))
			if p.samples%64 == 0 {
				p.show()
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// rows passes rows on. Stats are those that the rows come with.
func (p *progress) rows(rows iter.Seq2[*tokenstream.Batch, error], stats *tokenstream.Stats) iter.Seq2[*tokenstream.Batch, error] {
	return func(yield func(*tokenstream.Batch, error) bool) {
		p.stats = stats
		for row, err := range rows {
			p.show()
			if !yield(row, err) {
				return
			}
		}
	}
}

// show shows how far the job is, if it is time.
func (p *progress) show() {
	now := time.Now()
	if p.quiet || now.Before(p.next) {
		return
	}
	rate := float64(p.tokens) / now.Sub(p.start).Seconds()
	text := fmt.Sprintf("%s samples, %s tokens, %.1f M tokens/s", dataset.Commas(p.samples), dataset.Commas(p.tokens), rate/1e6)
	if p.stats != nil && p.stats.Rows > 0 {
		placed := float64(p.stats.Slots) // pad tails of what has come out
		text += fmt.Sprintf(", %s rows, %.1f %% full", dataset.Commas(p.stats.Rows), 100*float64(p.stats.Placed)/placed)
	}
	if p.bar != nil {
		p.next = now.Add(barEvery)
		p.bar.Describe(text)
		_ = p.bar.Set64(p.files.BytesRead())
		return
	}
	p.next = now.Add(lineEvery)
	if size := p.files.Size(); size > 0 {
		done := float64(p.files.BytesRead()) / float64(size)
		left := time.Duration(float64(now.Sub(p.start)) * (1/done - 1)).Round(time.Second)
		text += fmt.Sprintf(", %.0f %% of the input, %v left", 100*done, left)
	}
	fmt.Fprintf(p.w, "brimful: %s\n", text)
}

// done removes the bar.
func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
