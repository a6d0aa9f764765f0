// Etl is a Go ETL job: it makes samples in a loop, packs them and writes a data set. Run it with a directory to write.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/dataset"
)

// samples yields what the job makes. The slices are valid until the next iteration, so that one buffer serves all samples.
func samples(yield func(tokenstream.Sample, error) bool) {
	var tokens, labels []int32
	for i := range 1000 {
		prompt := fmt.Sprintf("What is %d times %d? ", i, i)
		answer := strings.Repeat("Let me think. ", i%7) + fmt.Sprint(i*i)
		tokens, labels = tokens[:0], labels[:0]
		for _, b := range []byte(prompt) { // a byte is a token here
			tokens, labels = append(tokens, int32(b)), append(labels, tokenstream.Ignore)
		}
		for _, b := range []byte(answer) {
			tokens, labels = append(tokens, int32(b)), append(labels, int32(b))
		}
		if !yield(tokenstream.Sample{ID: fmt.Sprint(i), Tokens: tokens, Labels: labels}, nil) {
			return
		}
	}
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: etl DIR")
	}
	var stats tokenstream.Stats
	rows := tokenstream.Pack(samples, tokenstream.Options{Capacity: 512, VocabSize: 256, Stats: &stats})
	if _, err := dataset.Write(context.Background(), os.Args[1], rows, dataset.Options{}); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d samples, %d rows, %.1f %% full\n", stats.Ledger.Out.Samples, stats.Rows, 100*stats.Fill())
}
